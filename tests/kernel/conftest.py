"""Rules are judged alone: the last net, which runs some inputs after a proof, would hide that an obligation is gone."""

import pytest

from separatrix_kernel import checker


@pytest.fixture(autouse=True)
def _without_the_last_net(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "LAST_NET", 0)
