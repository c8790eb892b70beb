"""Options that would change nothing are refused: one line that names the option, its value and the remedy."""

import pytest

from separatrix.cli.verb_runs import ACTIONS, ACTIONS_OF


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("runs", "export", "runs.csv", "--plot", "a.svg"), "--plot a.svg is for show and compare, not for export"),
        (("runs", "show", "abc", "--length", "5"), "--length 5 is for list and export, not for show"),
        (("runs", "list", "--curves"), "--curves is for export, not for list; leave it out"),
        (("runs", "compare", "a", "b", "--bits", "4"), "--bits 4 is for bits, not for compare"),
        (("frontier", "index-lookup", "--steps", "3"), "--steps 3 is for trained models; give --learned"),
        (("frontier", "index-lookup", "--learned", "LSTM-(1,W)", "--to", "5"), "--to 5 is for certified networks"),
        (("frontier", "index-lookup", "--learned", "LSTM-(1,W)", "--max-memory", "1G"), "--max-memory 1G is for cert"),
        (("capacity", "--length", "100"), "--length 100 asks about a model; name one, such as gpt2"),
        (("capacity", "--task", "dyck", "--task", "index"), "--task dyck index asks about a model"),
    ],
)
def test_an_option_without_effect_is_refused(call, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    ended = call(*arguments)
    assert ended.code == 2
    assert told in ended.err
    assert ended.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_every_action_that_options_name_is_one():
    assert {action for actions in ACTIONS_OF.values() for action in actions} <= set(ACTIONS)
