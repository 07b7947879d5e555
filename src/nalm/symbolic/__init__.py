"""From a trained model to a formula."""

from nalm.symbolic.explain import Explanation, explain

__all__ = ["Explanation", "explain"]
