"""scikit-learn's own checks of estimators, one test each."""

import pytest

import nalm

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([nalm.ArithmeticRegressor(max_seconds=20, random_state=0)])
def test_the_estimator_passes(estimator, check):
    check(estimator)
