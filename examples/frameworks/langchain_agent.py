"""Two threads of an agent: the prompt of the second has what was said in the first.

    pip install 'mnemos[langchain]'
    python examples/frameworks/langchain_agent.py

Offline: the model is a fake that answers with its system message.
"""

from __future__ import annotations

import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from mnemos.integrations.langchain import MnemosMiddleware, MnemosRetriever


class Fake(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        system = "\n".join(one.text for one in messages if isinstance(one, SystemMessage))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(system or "Understood."))])


def main(home: str) -> None:
    # This is the line that changes: middleware. A busy machine may need more than the usual 50 ms.
    middleware = MnemosMiddleware(home, recall_seconds=10)
    agent: Any = create_agent(Fake(), [], middleware=[middleware])

    def say(text: str, thread: str) -> str:
        config = {"configurable": {"thread_id": thread, "user_id": "ada"}}
        return str(agent.invoke({"messages": [("user", text)]}, config)["messages"][-1].text)

    say("We deploy on Tuesdays at 9, never on Fridays.", thread="1")
    print(say("Which day is the deploy?", thread="2"))
    middleware.close()

    retriever = MnemosRetriever(memory=home, k=1, user_id="ada")
    documents = retriever.invoke("When is the deploy, on Tuesdays?")
    print(f"{len(documents)} document: {documents[0].page_content}")
    retriever.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(place)
