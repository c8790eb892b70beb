"""A run is its description: names, equality, validation that lists every reason."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.training.spec import MEMBER_FIELDS, RunSpec, spec_from
from tests.training.cases import tiny

CHANGES = {
    "task": "dyck", "architecture": "LSTM-(1,8)", "length": 12, "learning_rate": 0.5, "steps": 61,
    "task_parameters": {"alphabet": 8}, "weight_decay": 0.1, "batch": 9, "warmup": 3, "clip": 1.0,
    "evaluate_every": 21, "probe_examples": 65, "evaluation_examples": 101, "goal": 0.5, "seed": 1,
    "precision": "float64", "snapshots": [0, 5], "questions": 4, "final_rate": 0.1, "start": 1,
    "leak_margin": 6.0, "state_radius": 0.05, "full_length": 0.5, "shortest": 5, "longest": 5,
    "growth": 0.5, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-6,
}  # fmt: skip


def test_every_field_is_part_of_the_name():
    names = {tiny().with_changes(**{field: value}).name for field, value in CHANGES.items()}
    assert set(CHANGES) == {field.name for field in dataclasses.fields(RunSpec)}
    assert len(names | {tiny().name}) == len(CHANGES) + 1


@pytest.mark.parametrize("field", CHANGES)
def test_only_the_members_own_fields_leave_the_shape_alone(field):
    changed = tiny().with_changes(**{field: CHANGES[field]})
    assert (changed.shape == tiny().shape) == (field in MEMBER_FIELDS)


@given(
    st.floats(1e-7, 1.0),
    st.integers(1, 10**6),
    st.integers(0, 2**63 - 1),
    st.lists(st.integers(0, 60), unique=True, max_size=5),
)
def test_a_run_survives_json(rate, batch, seed, snapshots):
    spec = tiny(learning_rate=rate, batch=batch, seed=seed, snapshots=sorted(snapshots))
    back = spec_from(json.loads(json.dumps(spec.as_dict())))
    assert back == spec
    assert back.name == spec.name


def test_every_reason_is_listed_at_once():
    with pytest.raises(SeparatrixError) as caught:
        tiny(steps=0, batch=-1, learning_rate=float("nan"), goal=2, precision="float16", seed=-1, clip=-1.0, length=0)
    text = str(caught.value)
    for word in ("steps=0", "batch=-1", "learning_rate=nan", "goal=2", "float16", "seed=-1", "clip=-1.0", "length"):
        assert word in text
    assert "\n" not in text


@pytest.mark.parametrize("snapshots", [[3, 1], [1, 1], [61], [-1], [True], [1.5], "12", 7])
def test_snapshots_are_steps_of_the_run_in_order(snapshots):
    with pytest.raises(SeparatrixError, match="snapshots"):
        tiny(snapshots=snapshots)


def test_unknown_and_missing_fields_are_named():
    with pytest.raises(SeparatrixError, match="nearest: learning_rate"):
        spec_from({**tiny().as_dict(), "learning_rat": 1})
    with pytest.raises(SeparatrixError, match="length, steps"):
        spec_from({"task": "dyck", "architecture": "TF-(1,8)", "learning_rate": 0.1})
    with pytest.raises(SeparatrixError, match="nearest: seed"):
        tiny().with_changes(sed=1)


def test_the_task_has_the_runs_parameters():
    assert tiny(task_parameters={"alphabet": 8}).the_task().parameters()["alphabet"] == 8
    with pytest.raises(SeparatrixError, match="alphabet"):
        tiny(task_parameters={"alphabt": 8})
