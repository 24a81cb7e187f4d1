"""A chat as the command line sees it.

Owns what is known before the session is there, which is slow to load, and makes it when it is first needed.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from co_cli.agent.audience import Spent
from co_cli.learning.drafting.lessons import is_on, learn_from_chats
from co_cli.surfaces.cli.chat.voice import spent_line

if TYPE_CHECKING:
    from co_cli.agent.providers import Choice
    from co_cli.agent.session import Session
    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.drafting.lessons import Lesson
    from co_cli.surfaces.cli.chat.voice import Voice


class Chat:
    """A chat as its commands see it; the session, which is slow to load, is made when it is first needed."""

    def __init__(
        self, kb: KnowledgeBase, choice: Choice, voice: Voice, *, personality: str | None, everything: bool
    ) -> None:
        self.kb = kb
        self.voice = voice
        self._choice = choice
        self._personality = personality
        self._everything = everything
        self.session: Session | None = None
        self._loading = Lock()

    @property
    def choice(self) -> Choice:
        """The provider in force."""
        return self.session.choice if self.session else self._choice

    def load(self) -> Session:
        """The session; the first call takes about a second."""
        from co_cli.agent.approval import Approvals
        from co_cli.agent.session import Session

        with self._loading:
            if self.session is None:
                approvals = Approvals(everything=self._everything)
                self.session = Session(self.kb, self._choice, self.voice, approvals, personality=self._personality)
            return self.session

    async def close(self) -> None:
        """Let go of the connections to servers, if there are any."""
        if self.session:
            await self.session.close()

    @property
    def status(self) -> str:
        """The model, what the chat has taken so far, and whether it is learned from."""
        return f"{spent_line(self.choice, self._spent)}{' · learning is on' if is_on(self.kb) else ''}"

    def learned(self) -> Lesson | None:
        """Draft from what was said, once the chat is over; ``None`` where nobody wants that, or nothing was said."""
        transcript = self.session.transcript if self.session else None
        if transcript is None or not is_on(self.kb):
            return None
        from co_cli.agent.learner import drafter

        return learn_from_chats(self.kb, transcript.path, drafter(self.kb, self.choice))

    @property
    def _spent(self) -> Spent:
        return self.session.spent if self.session else Spent()

    def data(self) -> dict[str, object]:
        """The chat as JSON."""
        transcript = self.session.transcript if self.session else None
        about = {"session": transcript.id if transcript else None, "provider": self.choice.provider}
        return {**about, "model": self.choice.model, **self._spent._asdict()}
