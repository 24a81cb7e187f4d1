"""An inbox that many use at once, and that processes die in: every proposal is answered once, and none is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from processes import finish, start, temporaries

from co_cli import KnowledgeBase
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal

FACTS = [Proposal("draft", "project", "save", f"Fact number {number}", {"tags": ["x"]}) for number in range(6)]

ANSWERING = """
import json, sys
from co_cli import CoError, open_knowledge
from co_cli.learning import inbox
kb = open_knowledge()
kb.log()
waiting = inbox.proposals(kb).proposals
print(json.dumps("ready"), flush=True)
sys.stdin.readline()
for proposal in waiting:
    try:
        getattr(inbox, sys.argv[1])(kb, proposal)
        print(json.dumps([proposal.ref, "done", ""]), flush=True)
    except CoError as error:
        print(json.dumps([proposal.ref, error.kind, error.message]), flush=True)
"""

PROPOSING = """
import json, sys
from co_cli import open_knowledge
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal
kb = open_knowledge()
print(json.dumps("ready"), flush=True)
sys.stdin.readline()
for number in range(6):
    outcomes = inbox.propose(kb, [Proposal("draft", "project", "save", f"Fact number {number}"),
                                  Proposal("draft", "project", "save", f"Fact {number} of {sys.argv[1]}")])
    print(json.dumps([[outcome.state, outcome.proposal.ref] for outcome in outcomes]), flush=True)
"""

DEATH = """
import itertools, json, os, sys
from co_cli import open_knowledge
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal

base, operation = sys.argv[1:]
DIED = 99
FACT = Proposal("draft", "project", "save", "We deploy on Fridays", {"tags": ["x"]})

def die_before(step):
    count = itertools.count(1)
    def counted(function):
        def call(*arguments, **options):
            if next(count) == step:
                os._exit(DIED)
            return function(*arguments, **options)
        return call
    for name in ("replace", "link", "unlink", "fsync", "fchmod", "mkdir", "close"):
        setattr(os, name, counted(getattr(os, name)))
    reading, writing = os.open, counted(os.open)
    os.open = lambda path, flags, *rest: (writing if flags & os.O_CREAT else reading)(path, flags, *rest)

def status_of(action, kb, step):
    child = os.fork()
    if not child:
        status = 1
        try:
            die_before(step)
            action(kb)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DIED), status
    return status
"""

# Dies just before its n-th step that can be seen on disk, for each n until it lives to the end; each time in a project of
# its own. Says what was found afterwards, by another process that looks.
DYING = (
    DEATH
    + """
def operate(kb):
    match operation:
        case "propose": inbox.propose(kb, [FACT])
        case "accept": inbox.accept(kb, inbox.get(kb, "p1"))
        case "reject": inbox.reject(kb, inbox.get(kb, "p1"))
        case "reword": inbox.reword(kb, inbox.get(kb, "p1"), "We deploy on Mondays")

for step in itertools.count(1):
    project = f"{base}/{step}"
    os.makedirs(f"{project}/.co-cli")
    kb = open_knowledge(project)
    if operation != "propose":
        inbox.propose(kb, [FACT])
    status = status_of(operate, kb, step)
    kb.log()  # settles what was left half done
    found = inbox.proposals(kb)
    again = inbox.propose(kb, [FACT])[0].state
    waits = [proposal.content for proposal in found.proposals]
    notes = [note.body for note in kb.list().notes]
    print(json.dumps([waits, notes, again, len(found.problems)]), flush=True)
    inbox.propose(kb, [FACT._replace(content="Something else")])  # whoever writes next sweeps up
    kb.save("Something else again")
    inbox.reject(kb, inbox.proposals(kb).proposals[-1])
    if status == 0:
        break
"""
)

# The same where a yes moves a note from one vault to the other: says in which it was found.
MOVING = (
    DEATH
    + """
to_global = operation == "promote"
for step in itertools.count(1):
    os.makedirs(f"{base}/{step}")
    kb = open_knowledge(f"{base}/{step}")
    note = kb.save(f"Fact of step {step}", in_global=not to_global).note
    move = {"to": "global" if to_global else "project"}
    (asked,) = inbox.propose(kb, [Proposal("update", note.vault, "move", "", move, (note.ref,))])
    status = status_of(lambda kb: inbox.accept(kb, asked.proposal), kb, step)
    kb.log()  # settles what was left half done
    print(json.dumps([found.vault for found in kb.list().notes if found.body == note.body]), flush=True)
    if status == 0:
        break
"""
)


def together(script: str, *arguments: tuple[object, ...]) -> list[list[list[str]]]:
    """Run the same script several times at once; returns what each said."""
    processes = [start(script, *each) for each in arguments]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline()
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [finish(process) for process in processes]


def test_of_several_who_answer_the_same_proposals_exactly_one_wins_each(kb: KnowledgeBase) -> None:
    inbox.propose(kb, FACTS)
    said = [each for answers in together(ANSWERING, ("accept",), ("accept",), ("reject",)) for each in answers]
    outcomes = Counter((ref, outcome) for ref, outcome, _message in said)
    assert all(outcomes[proposal, "done"] == 1 for proposal in (f"p{number}" for number in range(1, 7)))
    losers = [message for _ref, outcome, message in said if outcome != "done"]
    assert {outcome for _ref, outcome, _message in said} == {"done", "conflict"}
    assert all("waits no more: it was accepted or rejected meanwhile" in message for message in losers)
    assert inbox.proposals(kb).proposals == ()
    accepted = [change for change in kb.log() if change.change.operation == "accept"]
    assert len(kb.list().notes) == len(accepted)


def test_several_who_propose_the_same_leave_it_once_and_every_number_means_one_thing(kb: KnowledgeBase) -> None:
    said = [pair for answers in together(PROPOSING, ("A",), ("B",), ("C",)) for pair in answers]
    states = Counter(state for pair in said for state, _ref in pair)
    assert states == {inbox.PROPOSED: 6 + 18, inbox.WAITING: 12}
    waiting = inbox.proposals(kb).proposals
    assert [proposal.id for proposal in waiting] == list(range(1, 25))
    assert len({proposal.content for proposal in waiting}) == 24


@pytest.mark.parametrize("operation", ["propose", "accept", "reject", "reword"])
def test_a_process_that_dies_at_any_step_leaves_it_waiting_or_answered_and_nothing_between(
    operation: str, tmp_path: Path
) -> None:
    found = finish(start(DYING, tmp_path / "projects", operation))
    states = Counter(json_key(each) for each in found)
    fact, other = "We deploy on Fridays", "We deploy on Mondays"
    waiting = ((fact,), (), inbox.WAITING, 0)
    possible = {
        "propose": {((), (), inbox.PROPOSED, 0), waiting},
        "accept": {waiting, ((), (fact,), inbox.NOTHING, 0)},
        "reject": {waiting, ((), (), inbox.REJECTED, 0)},
        "reword": {waiting, ((other,), (), inbox.WAITING, 0)},
    }[operation]
    assert set(states) == possible
    assert len(found) > 5
    assert temporaries(tmp_path) == []


def json_key(state: list[object]) -> tuple[object, ...]:
    return tuple(tuple(part) if isinstance(part, list) else part for part in state)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["promote", "demote"])
def test_a_note_that_a_yes_moves_is_in_one_vault_or_the_other_whenever_the_process_dies(
    operation: str, tmp_path: Path
) -> None:
    found = finish(start(MOVING, tmp_path, operation))
    before, after = ("project", "global") if operation == "promote" else ("global", "project")
    assert [] not in found
    assert found[0] == [before]
    assert found[-1] == [after]
