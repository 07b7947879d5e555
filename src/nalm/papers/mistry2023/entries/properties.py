"""Tables of the thesis about units and losses that are compared cell by cell with what ours do."""

from __future__ import annotations

from nalm.papers.entry import Study
from nalm.papers.mistry2023.programs import loss_properties, parameter_counts, solutions, unit_table
from nalm.papers.shared.findings import measure

_TICK = measure("tick", rising=None)
"""1 for a tick, 0 for an empty cell."""

ENTRIES = (
    Study(
        "mistry2023:table2.1",
        "Key properties of eight units",
        "thesis, section 2.1.3",
        unit_table.compute,
        metrics=(_TICK,),
        note="The table's asterisk, powers from -1 to 1 only, is a column of its own. Operations are tried "
        "on positive numbers, logic on truth values, comparisons on whole numbers. The NLRL takes truth "
        "values only; on numbers its conjunction is their product, which the table does not count either.",
    ),
    Study(
        "mistry2023:table2.2",
        "The NALU's shortcomings and solutions to them",
        "thesis, section 2.3",
        solutions.compute,
        metrics=(_TICK,),
        note="A column is a solution that the table names, put as a question to our units: 1 where it is "
        "named, 0 for the NALU and where a cell is empty. Left out: the valid initialisation of NAU and NMU "
        "(madsen2020:appendixB), values close to 0, for which the table gives no measure "
        "(mistry2023:fig2.13), and CalcNet's parser, which is no property of a unit.",
    ),
    Study(
        "mistry2023:section5.11",
        "Learnable parameters of units that divide",
        "thesis, section 5.11",
        parameter_counts.compute,
        metrics=(measure("parameters", rising=None),),
        claims=parameter_counts.CLAIMS,
        note="The text has formulas, I O, I (O + 1) and 2 I O for I inputs and O outputs: sizes are ours. "
        "With one output, Real NPU and NMRU have equally many.",
    ),
    Study(
        "mistry2023:table6.3",
        "Properties of three losses",
        "thesis, section 6.2",
        loss_properties.compute,
        metrics=(_TICK,),
        note="Each property is a change of the data that the loss must not notice (see the program).",
    ),
)
