"""Long runs of a benchmark: a process that is killed leaves a checkpoint, and the next one resumes there."""

import multiprocessing

import numpy as np

from nalm.experiment.bench import Experiment, compute_missing, make_work
from nalm.experiment.checkpoints import checkpoint_folder, is_next_to_its_store
from nalm.experiment.compute import compute
from nalm.experiment.local import Local
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import Recipe
from nalm.tasks import SingleModule

CASE = Case(ModelSpec.parse("nmu"), SingleModule("mul"), other_recipe=Recipe(iterations=4000, by="loop"))


def test_a_run_whose_process_is_killed_resumes_from_its_checkpoint(tmp_path):
    path, done = tmp_path / "runs.sqlite", []
    folder = checkpoint_folder(path)

    def kill_once(progress):
        done.append(progress.done)
        if progress.done >= 2000 and progress.done < 4000 and done.count("killed") == 0:
            assert [file.name for file in folder.iterdir()] == [f"{Run(CASE, 0).id}.safetensors"]
            done.append("killed")
            for process in multiprocessing.active_children():
                process.kill()

    with Store(path) as store:
        compute_missing(make_work(Experiment("long", (CASE,), 1), store, 1), store, Local(1), kill_once)
        (record,) = store.records()
    after = done[done.index("killed") + 1 :]
    assert min(after) >= 2000  # it did not begin again
    assert not folder.exists()
    (whole,) = compute(Chunk((Run(CASE, 0),)))
    np.testing.assert_array_equal(record.test, whole.test)
    np.testing.assert_array_equal(record.final_parameters["weight"], whole.final_parameters["weight"])


def test_checkpoints_lie_next_to_the_store_and_are_written_by_those_who_can_see_it(tmp_path):
    folder = checkpoint_folder(tmp_path / "runs.sqlite")
    assert folder == tmp_path / "runs.sqlite.checkpoints"
    assert not is_next_to_its_store(folder)
    (tmp_path / "runs.sqlite").touch()
    assert is_next_to_its_store(folder)


def test_every_run_of_the_loop_is_a_chunk_of_its_own(tmp_path):
    work = make_work(Experiment("long", (CASE,), 3), None, 2)
    assert [len(chunk.runs) for chunk in work.chunks] == [1, 1, 1]
