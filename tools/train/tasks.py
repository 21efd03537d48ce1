"""What the target is asked to write: user's turns by kind of task. Dialogue n of a seed is always asked the same.

A turn is a start that is given, and `more` if the target itself writes the rest of the user's words. Passages come from plain text files
(documents separated by a line <|endoftext|>), cut at the ends of sentences.
"""

import dataclasses
import pathlib
import random
import re

# Starts whose rest the target writes: open questions, maths, translation, code and roles, as people ask them.
STARTS = """Write a|Write a short story about|Write an email to|Compose a|Draft a|Describe|Explain|Explain how|Explain the difference between|Why do|Why is|What is|What are the|What is the best way to
How do I|How does|How can I|How many|Who was|Who invented|Who played|Who wrote|When did|Where is|Where did|Which|Which country|Can you|Could you please|Please help me|Tell me about|Give me a list of|List
Imagine you are|Pretend to be|You are a|I have a|I want to|I am writing|My friend|Suppose|Compare|Summarize|Suggest|Create a|Design|Develop a|Implement a|Write a Python|Write a function that|Write a program
Solve|Calculate|Find the|A store sells|A farmer has|A train travels|Tom has|Maria bought|There are|John is|If a|Each|In a class of|Sarah earns|Ben reads
Translate German to English: Die|Translate German to English: Der|Translate German to English: Es|Translate German to English: Ein|Translate German to English: Wir|Translate German to English: In|Translate German to English: Das|Translate German to English: Nach|Translate to French:|Translate the following sentence into Spanish:
Answer the question:|What happened|What does the word|What year|In what year|Is it true that|Do you think|Discuss|Analyze|Outline|Provide|Rewrite the following|Edit the following|Classify|Identify|Evaluate|Name|Who is the|Where was|When was|who sang|what is the|when did the|where does the|who is the"""
STARTS = [s for line in STARTS.split("\n") for s in line.split("|")]

# {p} passage, {s} one sentence of it.
PASSAGES = {
    "summarise": ["Summarize: {p}", "Summarize the following text.\n\n{p}", "{p}\n\nSummarize the passage above in a few sentences.", "What is the main idea of this text?\n\n{p}", "Write a short summary of this story:\n{p}"],
    "answer": ["{p}\nWho are the people in this text, and what do they do?", "{p}\n\nWhat happens at the end?", "Read the passage and answer the question.\n\n{p}\n\nWhy does this happen?", "{p}\nWhere does this take place?",
               "Use the text below to answer: what is the problem, and how is it solved?\n\n{p}", "{p}\n\nWhat can we learn from this?", "Context: {p}\n\nQuestion: What is described here?\nAnswer:", "{p}\nList the facts given in the text."],
    "ask": ["{p}\n\nWrite three questions about this text and answer them.", "Make a quiz about the following passage.\n\n{p}"],
    "translate": ["Translate to French: {s}", "Translate the following sentence into German: {s}", "Translate English to Spanish: {s}", "Translate into Italian: {s}"],
    "explain": ["Explain this sentence in simple words: {s}", "What does this mean? \"{s}\"", "Explain the following passage to a child.\n\n{p}", "Correct the grammar of this sentence: {s}", "Rewrite this more formally: {s}"],
    "continue": ["Continue the story:\n\n{p}", "{p}\n\nWhat happens next?", "Write a story that begins like this: {s}", "Write a different ending for this story.\n\n{p}"],
    "list": ["List the characters in this story.\n\n{p}", "Extract all names from the following text as a list.\n\n{p}", "Write the key points of this text as bullet points.\n\n{p}", "Make a timeline of what happens here:\n{p}"],
}
FOLLOW = ["Can you give an example?", "Why?", "Make it shorter.", "Rewrite your previous response in simpler words.", "Now write it as a poem.", "Explain that to a child.", "Are you sure? Explain step by step.", "Continue.",
          "What else should I know?", "Rewrite it with more detail.", "Give me three more.", "Summarize your answer in one sentence.", "Can you say that differently?", "Thank you! What should I do next?", "Write it as a list."]


def arithmetic(rng):
    """A word problem with numbers of its own."""
    name, other = rng.sample(["Anna", "Ben", "Carla", "David", "Emma", "Farid", "Grace", "Hugo", "Ines", "Jack", "Kofi", "Lena", "Mia", "Noah", "Olga", "Paul"], 2)
    thing = rng.choice(["apples", "books", "marbles", "stickers", "cookies", "pencils", "tickets", "coins", "flowers", "cards"])
    a, b, c = rng.randint(3, 90), rng.randint(2, 12), rng.randint(2, 20)
    return rng.choice([
        f"{name} has {a} {thing}. {other} gives {name} {b} bags with {c} {thing} each. How many {thing} does {name} have now?",
        f"{name} buys {b} boxes of {thing} for ${c} each and pays with ${b * c + a}. How much change does {name} get?",
        f"A shop sells {a} {thing} a day from Monday to Friday and {b} times as many on Saturday. How many {thing} does it sell in the week?",
        f"{name} reads {c} pages a day. The book has {a * c} pages. How many days does {name} need, and how many weeks is that?",
        f"{name} earns ${c} an hour and works {b} hours a day for {rng.randint(2, 6)} days. {name} then spends {rng.choice([10, 20, 25, 50])}% of the money. How much is left?",
        f"{name} is {a} years old. {other} is {b} years younger. How old will {other} be in {c} years?",
        f"What is {a} * {c} + {b}?", f"Solve for x: {b}x + {c} = {b * a + c}", f"A train drives {a} km in {b} hours. How far does it drive in {c} hours at the same speed?"])


@dataclasses.dataclass
class Job:
    task: str
    user: str           # the given words of the first turn
    more: bool          # the target writes on
    greedy: bool
    temperature: float  # of answers that are not greedy
    follow: list        # later turns: text, or None: the target writes it
    user_temperature: float


class Tasks:
    def __init__(self, files, seed):
        self.seed, self.documents = seed, []
        for path in files:
            kind = [d.strip() for d in pathlib.Path(path).read_text(encoding="utf-8").split("<|endoftext|>")]
            self.documents.append([d for d in kind if len(d) > 80])

    def passage(self, rng):
        """A piece of a document, whole sentences, of mixed length: most are short, some as long as an article."""
        document = rng.choice(rng.choice(self.documents))
        wanted = rng.choices([rng.randint(150, 600), rng.randint(600, 1500), rng.randint(1500, 3800)], [55, 30, 15])[0]
        start = rng.randrange(max(1, len(document) - wanted))
        if start:
            match = re.search(r"[.!?]\s+|\n\n", document[start:])
            start += match.end() if match else 0
        piece = document[start: start + wanted]
        ends = [m.end() for m in re.finditer(r"[.!?][\"')”’]?(?=\s|$)", piece)]
        return (piece[: ends[-1]] if ends else piece).strip()

    def job(self, n):
        rng = random.Random(f"{self.seed}/{n}")
        kind = rng.choices(["free", "start", "maths", "passage"], [22, 33, 7, 38])[0]
        more = kind in ("free", "start")
        if kind == "free":
            user = ""
        elif kind == "start":
            user = rng.choice(STARTS)
        elif kind == "maths":
            user = arithmetic(rng)
        else:
            kind = rng.choices(list(PASSAGES), [26, 24, 6, 14, 10, 12, 8])[0]
            passage = self.passage(rng)
            sentences = [s for s in re.split(r"(?<=[.!?])\s+", passage.replace("\n", " ")) if 20 < len(s) < 220] or [passage[:200]]
            user = rng.choice(PASSAGES[kind]).format(p=passage, s=rng.choice(sentences))
        turns = rng.choices([0, 1, 2], [72, 23, 5])[0]
        follow = [rng.choice(FOLLOW) if rng.random() < 0.6 else None for _ in range(turns)]
        greedy = rng.random() < 0.8
        return Job(kind, user, more, greedy, rng.uniform(0.7, 1.0), follow, rng.uniform(0.8, 1.0))
