"""docs/reliability.md: the campaigns against the project, from the records of their last long runs."""

from tools import bound_campaign, footprint, room_coverage, smallest
from tools.calls import __main__ as calls
from tools.determinism import __main__ as determinism
from tools.files import __main__ as files
from tools.mutants import __main__ as mutants
from tools.pages import Section, Sentence, recorded
from tools.soak import __main__ as soak

from separatrix.cli.app import STOPPED
from separatrix.profiles.partitions import MOST_VALUES

PAGE = "docs/reliability.md"
PARTS = (
    Section(PAGE, mutants.MARK, lambda: mutants.page(recorded(mutants.MARK))),
    Section(PAGE, calls.PAGE_SECTION, lambda: calls.page(recorded(calls.PAGE_SECTION))),
    Section(PAGE, files.PAGE_SECTION, lambda: files.page(recorded(files.PAGE_SECTION))),
    Section(PAGE, determinism.PAGE_SECTION, lambda: determinism.page(recorded(determinism.PAGE_SECTION))),
    Section(PAGE, "soak", lambda: soak.page(recorded("soak"))),
    Section(PAGE, bound_campaign.MARK, lambda: bound_campaign.page(recorded(bound_campaign.MARK))),
    Section(PAGE, room_coverage.MARK, lambda: room_coverage.page(recorded(room_coverage.MARK))),
    Section(PAGE, footprint.MARK, lambda: footprint.page(recorded(footprint.MARK))),
    Section("docs/training.md", "kill log", lambda: soak.log_of(recorded("kill-log"))),
    Sentence(PAGE, "or {} when interrupted", lambda: [STOPPED]),
    Sentence(PAGE, "a sweep of {} small runs", lambda: [recorded("kill-log")["events"][0]["runs"]]),
    Sentence(PAGE, "takes more than {:,} steps is given up", lambda: [smallest.PATIENCE]),
    Sentence(
        PAGE,
        "rows of functions with more than {} values were counted after their values had been put into {} groups",
        lambda: [MOST_VALUES, MOST_VALUES],
    ),
    Sentence("docs/training.md", "exit code {}; the same command goes on", lambda: [STOPPED]),
    Sentence("docs/profile.md", "more than {} values are bounded by groups", lambda: [MOST_VALUES]),
    Sentence("docs/training.md", "has what {} kills, races", lambda: [recorded("soak")["outcomes"][0]["disturbances"]]),
)
