"""Second-order training: Levenberg-Marquardt in float64 from a population of starts, then exact weights.

The parts, in the order in which data flow: `checks` (what data can be used), `flat` (models as functions of
a vector), `measures` (how far predictions are off), `levenberg_marquardt` (the steps), `starts` (where to
begin), `quality` (how good weights are on fresh rows), `discretise` (from continuous to exact weights),
`solver` (all together, for one set of rows), `api` (`nalm.solve`) and `runs` (the runs of a benchmark).
"""
