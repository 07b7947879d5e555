"""Environments for gymnasium (`pip install 'nalm[agents]'`); importing this package registers them.

`gymnasium.make("nalm.environments:nalm/GridWorld-v0")` imports it by itself.
"""

from gymnasium.envs.registration import register

from nalm.environments.grid_world import GridWorldEnv

GRID_WORLD = "nalm/GridWorld-v0"
register(GRID_WORLD, entry_point="nalm.environments.grid_world:GridWorldEnv")

__all__ = ["GRID_WORLD", "GridWorldEnv"]
