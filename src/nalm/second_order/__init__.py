"""Second-order training: Levenberg-Marquardt in float64 from a population of starts, then exact weights.

The parts, in the order in which data flow: `checks` (which data can be used), `flat` (models as functions of
a vector), `measures` (how far predictions are off), `levenberg_marquardt` (the steps), `starts` (where to
begin), `quality` (how good weights are on fresh rows), `discretise` (from continuous to exact weights),
`solver` (all together, for one set of rows), `verdict` (what may be claimed) and `runs` (the runs of a
benchmark). `nalm.training.solve` is the public function.
"""
