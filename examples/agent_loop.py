"""An agent with a memory, offline: sixty turns of a conversation, its context compressed in the middle.

    python examples/agent_loop.py

The model is a stub that knows only its prompt: it answers with the line that has most
of the question's words, or says that it does not know. Turn 60 asks for a decision of turn 5,
long after the message was dropped. The home is a temporary folder.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field

from mnemos.integrations.providers import MemoryManager
from mnemos.text.tokens import count_tokens

COMPRESSED_AFTER = 30
KEPT_MESSAGES = 4

SCRIPT = """\
Hi! I want to build a small web shop for a bakery with you.
It sells bread, cakes and coffee; people order online and pick up in the shop.
Let's begin with the catalogue. What should a product have?
Good. A product also needs a picture and a list of allergens.
We decided to store all prices as integer cents, never as floats.
And where would you put the opening hours?
ok
Orders can be placed until eight in the evening for the next day.
The staging database listens on port 5433.
Which pages do we need for a first version?
Let's leave the customer accounts for later.
The pick-up slots are fifteen minutes long.
What happens when a slot is full?
Fine, then offer the next free slot.
Customers must never see how many orders other people have placed.
thanks!
Can you sketch the table of orders?
The kitchen wants a printed list at five in the morning.
We agreed to send the kitchen list as a PDF by e-mail.
What if the printer is out of paper?
Let us talk about the look of the site: warm colours, large photographs.
The logo is in the folder assets/logo.svg.
How do we keep photographs small enough for phones?
WebP sounds good.
yes
Which languages should the site have?
German first, English second; no others for now.
The texts come from the owner, who writes them in a spreadsheet.
How do we get the spreadsheet into the site?
Then a nightly import it is.
Now the deployment. Where do we host it?
A small virtual machine in Frankfurt is enough.
The deploy key belongs to the bot account, and only the pipeline uses it.
How do we roll back when something breaks?
Keep the last three releases on the machine, then.
ok, go on
What do we log?
Log no names and no e-mail addresses.
How long are logs kept?
Fourteen days should do.
Next topic: payments. People pay in the shop when they fetch their order.
Later we may add cards, but not now.
What about orders that nobody fetches?
The bakery gives them away in the evening.
Do we remind people?
One e-mail two hours before the slot ends.
Let's write the reminder text.
Shorter, please, and friendlier.
Good, that one.
Which tests do we need before the launch?
Test the slots around midnight and on Sundays.
And the change to summer time.
thanks
When do we launch?
The first Monday in March, in the morning.
Who tells the customers?
The owner puts a sign into the window.
Then let us go through the open points.
Before the launch I want to check the invoices.
How do we store prices, as floats or as cents?
""".splitlines()

EMPTY = frozenset(
    "a an and are as at be by can do does for from have how i in is it let need of on or our s so".split()
)
EMPTY |= frozenset(
    "should the then there they this to we what when where which who will with you your me my".split()
)


@dataclass
class Prompt:
    """The input of a model; the source of each part is only for the story."""

    system: str = ""
    recalled: str = ""
    history: list[dict] = field(default_factory=list)
    question: str = ""

    def lines(self):
        yield from (("system prompt", line) for line in self.system.splitlines())
        yield from (("recalled", line) for line in self.recalled.splitlines())
        for message in self.history:
            yield from (("history", line) for line in message["content"].splitlines())


def words(text):
    # "prices" and "price" are the same word here.
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())} - EMPTY


def model(prompt):
    """The stub: the line of the prompt that says most about the question, and its place."""
    asked = words(prompt.question)
    best = max(
        (
            (len(asked & words(line)), where, line)
            for where, line in prompt.lines()
            if line != prompt.question
        ),
        default=(0, "", ""),
        key=lambda found: found[0],
    )
    if best[0] < 2:
        return ("I do not know." if prompt.question.endswith("?") else "All right."), "nothing"
    return f"As far as I know: {best[2].strip()}", best[1]


def compress(manager, history):
    """Replace all but the last messages by a summary: here, only what the providers say it must keep."""
    summary = manager.on_pre_compress(history[:-KEPT_MESSAGES])
    manager.on_session_switch("bakery-2", parent_session_id="bakery-1", reason="compression")
    return [{"role": "system", "content": summary}, *history[-KEPT_MESSAGES:]]


def main():
    manager = MemoryManager()
    with tempfile.TemporaryDirectory() as home:
        manager.initialize_all("bakery-1", home=home, platform="cli")
        history, injected = [], []
        system = manager.build_system_prompt()
        for turn, said in enumerate(SCRIPT, start=1):
            manager.on_turn_start(turn, said)
            recalled = manager.prefetch_all(said)
            prompt = Prompt(system, recalled, history, said)
            answer, source = model(prompt)
            injected.append(count_tokens(recalled) if recalled else 0)
            print(f"{turn:2}  {injected[-1]:4} tokens recalled  user: {said}")
            history = [*history, {"role": "user", "content": said}, {"role": "assistant", "content": answer}]
            manager.sync_all(said, answer, messages=history)
            manager.queue_prefetch_all(said)
            if turn == COMPRESSED_AFTER:
                before = len(history)
                history = compress(manager, history)
                system = manager.build_system_prompt()
                print(f"--  {before} messages became {len(history)}; saved as facts in the meantime:")
                print("\n".join(f"      {line}" for line in history[0]["content"].splitlines()[1:]))
        tell_outcome(prompt, answer, source, injected, system)
        manager.on_session_end(history)
        manager.shutdown_all()


def tell_outcome(prompt, answer, source, injected, system):
    """Tell the outcome of the last turn."""
    dropped = all(message["content"] != SCRIPT[4] for message in prompt.history)
    forgetful, _ = model(Prompt(history=prompt.history[-2 * KEPT_MESSAGES :], question=prompt.question))
    print()
    print(f"Turn 5 said: {SCRIPT[4]}")
    print(f"Its message is {'no longer' if dropped else 'still'} in the context.")
    print(f"Turn 60 asks: {prompt.question}")
    print(f"  with memory: {answer} (from the {source})")
    print(f"  without:     {forgetful}")
    none = injected.count(0)
    print(f"Since the compression, the system prompt holds {count_tokens(system)} tokens of memory.")
    print(f"Recall added {sum(injected) / len(injected):.0f} tokens per turn, {max(injected)} at most;")
    print(f"none in {none} of {len(injected)} turns.")


if __name__ == "__main__":
    main()
