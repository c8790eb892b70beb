"""What a user's function may look like, and everything that it can do wrong."""

import itertools
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from separatrix.errors import SeparatrixError
from separatrix.profiles import (
    FunctionError,
    Limits,
    ProfileOptions,
    load_function,
    parse_alphabet,
    profile,
)
from separatrix.profiles import limits as limits_module
from separatrix.profiles.function import NotDeterministicError, probe
from separatrix.profiles.guard import Allowance, TimeUp
from separatrix.profiles.limits import check_limits, estimate, largest_fitting, seconds_for_one_input
from separatrix.profiles.table import InputChunks, Numbering, tabulate, widened


@pytest.mark.parametrize(
    ("function", "mode", "kind"),
    [
        (lambda x: sum(x) % 2, "inputs", "decision"),
        (lambda x: x.sum(axis=1) % 2, "arrays", "decision"),
        (lambda x: x.sum() % 2, "rows", "decision"),
        (lambda x: numpy.sum(x, axis=-1) % 2 == 1, "arrays", "decision"),
        (lambda x: x[0] == x[-1], "inputs", "decision"),
        (list, "arrays", "labelling"),
        (lambda x: x[::-1], "inputs", "labelling"),
        (lambda x: "even" if sum(x) % 2 == 0 else "odd", "inputs", "decision"),
        (lambda x: numpy.where(x.sum(axis=1) % 2 == 0, "even", "odd"), "arrays", "decision"),
    ],
)
@pytest.mark.parametrize("length", [3, 12])
def test_how_a_function_is_called_is_found_out(function, mode, kind, length):
    found = probe("f", function, parse_alphabet("2"), length)
    assert (found.mode, found.kind) == (mode, kind)


def test_both_ways_of_calling_give_the_same_table():
    one = probe("one", lambda x: sum(x) % 3, parse_alphabet("3"), 5)
    many = probe("many", lambda x: x.sum(axis=1) % 3, parse_alphabet("3"), 5)
    first, second = (tabulate(each, 5, Numbering()) for each in (one, many))
    assert (first.last == second.last).all()
    assert first.last.tolist() == [sum(x) % 3 for x in itertools.product(range(3), repeat=5)]


def test_strings_and_words_reach_the_function():
    seen = set()
    profile("strings", lambda x: bool(seen.add(type(x))) or x.count("(") > 1, 3, parse_alphabet("()"))
    assert str in seen
    words = profile("words", lambda x: x[0] == "push", 3, parse_alphabet("push,pop"))
    assert words.residuals.classes == (1, 2, 2, 2)
    arrays = profile("arrays", lambda x: (x == "(").sum(axis=1) > 1, 3, parse_alphabet("()"))
    assert arrays.function.mode == "arrays"
    assert (
        arrays.residuals.classes
        == profile("one", lambda x: x.count("(") > 1, 3, parse_alphabet("()")).residuals.classes
    )


@pytest.mark.parametrize("text", ["", "aa", "0", "a,,b", "a,a", "99999999999", "70000"])
def test_bad_alphabets_end_in_one_line(text):
    with pytest.raises(SeparatrixError) as error:
        parse_alphabet(text)
    assert "\n" not in str(error.value)


def test_alphabets():
    assert parse_alphabet("01").texts == ("0", "1")
    assert parse_alphabet("10").size == 10
    assert parse_alphabet("a,bc").in_words() == "a bc"
    assert parse_alphabet("N").in_words() == "0 … N − 1"


class Stateful:
    """Answers otherwise at the second call, as a function with a counter does."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: object) -> bool:
        self.calls += 1
        return self.calls % 2 == 0


def late(x):
    """Goes wrong on one input only, which no probe shows."""
    if tuple(x) == (1, 0, 1, 1, 0, 1, 0, 0, 1):
        raise KeyError("surprise")
    return 0


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: 1 / 0, ["ZeroDivisionError", "(0, 0, 0"]),
        (lambda x: None, ["NoneType", "return True or False"]),
        (lambda x: 0.5, ["float", "return True or False"]),
        (lambda x: {"a": 1}, ["dict"]),
        (lambda x: [1, 2], ["2 labels", "length 9"]),
        (lambda x: [1] * len(x) if x[0] else 1, ["a list for some inputs"]),
        (lambda x: exit(3), ["SystemExit"]),
        (Stateful(), ["not deterministic"]),
        (late, ["KeyError", "surprise", "(1, 0, 1, 1, 0, 1, 0, 0, 1)"]),
        (lambda x: numpy.random.default_rng().random() < 0.5, ["not deterministic"]),
        (lambda x: 1 / (sum(x) - 9) > 0, ["ZeroDivisionError", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"]),
        (lambda x: 5 % (sum(x) - 9) == 3, ["ZeroDivisionError", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"]),
        (lambda x: 1 / (sum(x) - 8 - x[0]) > 0, ["ZeroDivisionError", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"]),
        (lambda x: 1 / (x.sum(axis=1) - 9) > 0, ["divide by zero", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "numpy.errstate"]),
        (lambda x: 1 / (x.sum() - 9) > 0, ["divide by zero", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "numpy.errstate"]),
        (lambda x: numpy.exp(500 * x.sum(axis=1)) > 1, ["overflow", "numpy.errstate"]),
        (lambda x: (x.sum(axis=1) % 2) * 0.5, ["float64 values for an array"]),
    ],
)
def test_functions_that_go_wrong_end_in_one_line(function, words):
    with pytest.raises(FunctionError) as error:
        profile("mine", function, 9)
    message = str(error.value)
    assert "\n" not in message
    assert "mine" in message
    for word in words:
        assert word in message


def test_arrays_are_the_form_where_tuples_fail_for_want_of_an_array():
    """Inputs that begin with 0 never reach what a tuple has not."""
    assert probe("rows", lambda x: bool(x[0]) and x.sum() > 2, parse_alphabet("2"), 6).mode == "rows"


def test_a_function_may_divide_by_zero_on_purpose():
    def inverse(x):
        with numpy.errstate(divide="ignore"):
            return 1 / (x.sum(axis=1) - 3) > 0

    assert profile("inverse", inverse, 6).function.mode == "arrays"
    assert profile("tiny", lambda x: numpy.exp(-2000.0 * x.sum(axis=1)) == 0, 4).residuals.most == 2


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_function_that_does_not_end_is_stopped(stubborn):
    def endless(x):
        while sum(x) == 3:
            try:
                while True:
                    pass
            except Exception:
                if not stubborn:
                    raise
        return 1

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(SeparatrixError, match=r"endless was still running when --max-time was over, on \([01, ]+\)"):
        profile("endless", endless, 6, options=ProfileOptions(limits=Limits(seconds=1.0)))
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_time_that_is_over_between_two_calls_is_one_line_too():
    with pytest.raises(SeparatrixError, match="still being called"), Allowance(0.02).spending():
        time.sleep(5)


def test_other_threads_have_no_timer():
    """Signals reach the main thread alone; there the limit is only estimated."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(profile, "parity", lambda x: sum(x) % 2, 5).result().residuals.most == 2


def test_modules_of_the_current_folder_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module_of_mine.py").write_text("def first(x): return x[0]\n")
    before = list(sys.path)
    name, function = load_function("module_of_mine:first")
    assert (name, function((1, 0))) == ("module_of_mine:first", 1)
    assert sys.path == before


def test_a_function_that_remembers_is_caught_after_all_inputs():
    calls = itertools.count()

    def tiring(x):
        return int(next(calls) > 600)

    with pytest.raises(FunctionError, match="not deterministic"):
        profile("tiring", tiring, 9)


def test_rows_that_influence_each_other_are_not_arrays():
    def relative(x):
        total = numpy.sum(x, axis=-1)
        return total > numpy.mean(total)

    assert probe("relative", relative, parse_alphabet("2"), 6).mode == "inputs"


def test_functions_may_change_their_input_and_print(capsys):
    def rude(x):
        sys.stdout.write("noise")
        x[:] = 0
        return x.sum(axis=1)

    found = profile("rude", rude, 4)
    assert found.residuals.most == 1
    assert capsys.readouterr().out == ""


def test_lengths_that_a_function_refuses_are_skipped():
    def picky(x):
        if len(x) == 3:
            raise ValueError("not three")
        return sum(x) % 2

    found = profile("picky", picky, 6)
    assert [length for length, _ in found.skipped] == [3]
    assert found.automaton is None
    assert [each.classes for each in found.lengths] == [2, 2, 2, 2, 2]
    with pytest.raises(FunctionError, match="not three"):
        profile("picky", picky, 3)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_colon.py", ["path/to/file.py:function"]),
        ("missing.py:f", ["missing.py is not a file"]),
        ("mine.py:absent", ["no function 'absent'", "present"]),
        ("mine.py:constant", ["no function 'constant'"]),
        ("broken.py:f", ["could not be loaded", "SyntaxError"]),
        ("raising.py:f", ["could not be loaded", "RuntimeError: no"]),
        ("mine.txt:present", ["must end in .py"]),
        ("no.such.module:f", ["could not be imported"]),
        ("mine.py:1f", ["does not name a function"]),
    ],
)
def test_files_that_cannot_be_used_end_in_one_line(tmp_path, monkeypatch, target, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text("VALUE = 3\n")
    (tmp_path / "mine.py").write_text("import neighbour\nconstant = 1\ndef present(x): return neighbour.VALUE\n")
    (tmp_path / "mine.txt").write_text("text")
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "raising.py").write_text("raise RuntimeError('no')\n")
    assert load_function("mine.py:present")[1]((1,)) == 3
    with pytest.raises(SeparatrixError) as error:
        load_function(target)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_a_file_may_take_its_folder_off_the_path_itself(tmp_path):
    before = list(sys.path)
    (tmp_path / "tidy.py").write_text("import sys\nsys.path.pop(0)\ndef f(x): return 1\n")
    assert load_function(f"{tmp_path / 'tidy.py'}:f")[1]((0,)) == 1
    assert sys.path == before


def test_too_large_is_said_before_anything_is_called():
    def never(x):
        raise AssertionError("called")

    with pytest.raises(SeparatrixError, match=r"--max-memory; --length 26 is the largest that fits"):
        profile("large", never, 40)
    with pytest.raises(SeparatrixError, match=r"2\^1000 inputs"):
        profile("huge", never, 1000)
    with pytest.raises(SeparatrixError, match="at least 1"):
        profile("none", never, 0)
    with pytest.raises(SeparatrixError, match="--max-memory"):
        profile("small memory", never, 20, options=ProfileOptions(limits=Limits(memory=1 << 27)))


def test_too_slow_is_said_with_the_largest_length_that_fits():
    alphabet = parse_alphabet("2")
    limits = Limits(seconds=1.0)
    fitting = largest_fitting(alphabet, 1e-4, limits)
    assert estimate(alphabet, fitting, 1e-4).seconds <= 1 < estimate(alphabet, fitting + 1, 1e-4).seconds
    with pytest.raises(SeparatrixError, match=f"--max-time; --length {fitting} is the largest"):
        check_limits(alphabet, 20, limits, 1e-4)
    assert check_limits(alphabet, fitting, limits, 1e-4).inputs == 2 ** (fitting + 1) - 1
    with pytest.raises(SeparatrixError, match="smaller alphabet"):
        check_limits(parse_alphabet("60000"), 2, Limits(memory=1))


def test_a_pause_of_the_machine_is_not_taken_for_every_inputs_time(monkeypatch):
    user = probe("parity", lambda x: sum(x) % 2 == 1, parse_alphabet("2"), 6)
    readings = iter([0.0, 2.0, 2.0, 902.0, 902.0, 903.0, 903.0, 905.0])
    monkeypatch.setattr(limits_module.time, "perf_counter", lambda: next(readings))
    assert user.mode == "inputs" and seconds_for_one_input(user, 6) == 4 / 48


@pytest.mark.parametrize(("symbols", "length"), [(2, 0), (2, 3), (2, 17), (7, 6), (40000, 1)])
def test_all_inputs_come_in_order(symbols, length):
    start = 0
    for chunk in InputChunks(symbols, length):
        number = numpy.zeros(len(chunk), dtype=numpy.int64)
        for place in range(length):
            number = number * symbols + chunk[:, place]
        assert (number == numpy.arange(start, start + len(chunk))).all()
        start += len(chunk)
    assert start == symbols**length


def test_values_that_are_no_small_numbers_are_numbered():
    numbering = Numbering()
    wide = numpy.array([0, 10**12, 0, -5])
    assert numbering.numbers(wide).tolist() == [0, 3, 0, 2]
    assert numbering.numbers(numpy.array([["b", "a"], ["a", "b"]])).tolist() == [[5, 4], [4, 5]]
    found = profile("large", lambda x: 10**30 * sum(x), 4)
    assert set(found.values) == {0, 1, *(10**30 * count for count in range(1, 5))}
    with pytest.raises(SeparatrixError, match="coarser"):
        widened(numpy.zeros(1, dtype=numpy.uint8), numpy.array([1 << 32]))


def test_a_function_that_answers_otherwise_in_small_batches_is_caught():
    """Both calls at the end have 64 inputs and agree; what they say differs from the whole table."""

    def sized(x):
        return (x.sum(axis=1) + (len(x) == 64)) % 2

    with pytest.raises(NotDeterministicError, match="other answers at the second"):
        profile("sized", sized, 9)


def test_a_function_that_changes_its_shape_is_caught():
    def growing(x):
        return x if len(x) > 100 else x.sum(axis=1) % 2

    with pytest.raises(FunctionError, match=r"returned shape \(\d+, 9\) for \d+ inputs of length 9"):
        profile("growing", growing, 9)


def test_a_length_at_which_labels_become_a_decision_is_skipped():
    found = profile("changing", lambda x: sum(x) % 2 if len(x) == 2 else list(x), 4)
    assert [length for length, _ in found.skipped] == [2]
    assert "returns a decision at length 2" in found.skipped[0][1]


def test_labels_that_look_beyond_a_chunk_are_not_causal():
    """The first label is the second symbol, which is the same throughout a chunk of 2^15 inputs."""

    def ahead(x):
        labels = numpy.zeros(x.shape, dtype=numpy.int64)
        labels[:, 0] = x[:, 1]
        return labels

    user = probe("ahead", ahead, parse_alphabet("2"), 17)
    table = tabulate(user, 17, Numbering())
    assert table.kind == "labelling"
    assert not table.causal


@pytest.mark.parametrize("mode", ["arrays", "inputs"])
def test_ctrl_c_inside_the_function_ends_the_command_and_is_no_answer(mode):
    def pressed(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe("pressed", pressed, parse_alphabet("2"), 4, mode)


def test_ctrl_c_while_a_module_is_imported_is_passed_on(tmp_path, monkeypatch):
    (tmp_path / "pressed_at_once.py").write_text("raise KeyboardInterrupt\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        load_function("pressed_at_once:f")


@pytest.mark.parametrize("mode", ["arrays", "inputs"])
def test_a_function_whose_time_is_up_is_told_with_its_input(mode):
    def slow(x):
        raise TimeUp

    with pytest.raises(SeparatrixError, match="slow"):
        probe("slow", slow, parse_alphabet("2"), 4, mode)


def test_a_function_that_fails_only_on_large_arrays_is_told_so():
    def one_by_one(x):
        if len(x) > 1:
            raise ValueError("one at a time")
        return x[:, 0]

    with pytest.raises(SeparatrixError, match=r"one_by_one raised ValueError: one at a time on an array of \d+ inputs"):
        probe("one_by_one", one_by_one, parse_alphabet("2"), 4, "arrays")


def test_running_out_of_memory_is_not_the_functions_answer():
    def greedy(x):
        raise MemoryError

    for mode in ("arrays", "inputs"):
        with pytest.raises(MemoryError):
            probe("greedy", greedy, parse_alphabet("2"), 4, mode)
