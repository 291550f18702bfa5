"""Text around a document in files: each kind is taken off and counted, and stays if the user wants it."""

import json

import pytest

from macroscope.documents import Provenance
from macroscope.readers.plain_text import is_tokenised
from macroscope.readers.reading import describe_said, read_user_documents
from macroscope.readers.selection import Selection
from macroscope.readers.wrappers import MARKS, WRAPPERS, unwrap

TEXT = "A fox ran, as foxes do.\n\nIt rained all night."
LINES = [sentence for sentence in "A fox ran.|It rained.|Nobody came.|The bell rang.|It was late.".split("|")]
CUES = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{{}}\n\n" for n in range(5))
ROLLING = "".join(
    f"00:00:0{n}.000 --> 00:00:0{n}.900 align:start\n{LINES[n - 1] if n else ' '}\n"
    f"{line[:1]}<00:00:00.1><c>{line[1:]}</c>\n\n"
    f"00:00:0{n}.900 --> 00:00:0{n}.910\n{line}\n \n\n"
    for n, line in enumerate(LINES)
)
SPOKEN = " ".join(LINES)
EXAMPLES = {
    "a message in JSON around the text": [
        (json.dumps({"role": "assistant", "content": TEXT}), TEXT),
        (json.dumps([{"role": "user", "content": "Write."}, {"role": "assistant", "content": TEXT}]), TEXT),
        (json.dumps({"story": TEXT}), json.dumps({"story": TEXT})),
    ],
    "the header and the licence of Project Gutenberg": [
        (
            "The Project Gutenberg eBook of Foxes\n\nTitle: Foxes\n\n*** START OF THE PROJECT GUTENBERG EBOOK FOXES ***"
            f"\n{TEXT}\n*** END OF THE PROJECT GUTENBERG EBOOK FOXES ***\n\nSection 1. Terms of use.",
            f"\n{TEXT}\n",
        ),
        ("Project Gutenberg is a library.", "Project Gutenberg is a library."),
    ],
    "a chat template before the answer": [
        (f"system\nBe brief.\nuser\nWrite.\nassistant\n{TEXT}", TEXT),
        (f"<|im_start|>user\nWrite.<|im_end|>\n<|im_start|>assistant\n{TEXT}", TEXT),
        (f"<s>[INST] Write. [/INST] {TEXT}", TEXT),
        (f"<bos><start_of_turn>user\nWrite.<end_of_turn>\n<start_of_turn>model\n{TEXT}", TEXT),
        (f"### Instruction:\nWrite.\n\n### Response:\n{TEXT}", TEXT),
        (f"\n\nHuman: Write.\n\nAssistant: {TEXT}", TEXT),
        (f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{TEXT}", TEXT),
    ],
    "turns after the end of the answer": [
        (f"{TEXT}<|im_end|>\n<|im_start|>user\nMore.<|im_end|>", f"{TEXT}<|im_end|>\n")
    ],
    "control tokens": [
        *(
            (f"{TEXT}{end}", TEXT)
            for end in ("<|im_end|>", "<|eot_id|>", " </s>", "<eos><pad><pad>", "\n<end_of_turn>\n")
        ),
        (f"<s> {TEXT}", TEXT),
        ("A fox ran.<|endoftext|>It rained.", "A fox ran.\n\nIt rained."),
        ("A fox ran . </s> It rained . </s>", "A fox ran . It rained ."),
        ("A text ends with `<|im_end|>` in ChatML.", "A text ends with `<|im_end|>` in ChatML."),
        ("A text ends with <|im_end|> in ChatML, or </s> in Llama 2.",) * 2,
    ],
    "a reasoning block (<think>)": [
        (f"<think>Hm.</think>{TEXT}", TEXT),
        (f"Hm.\n</think>{TEXT}", TEXT),
        (f'<details type="reasoning" done="true">\n<summary>Thought</summary>\n> Hm.\n</details>{TEXT}', TEXT),
    ],
    "an outer code fence": [(f"```markdown\n{TEXT}\n```", TEXT)],
    "YAML front matter": [(f"---\ntitle: Foxes\nabstract: |\n  On foxes.\n---\n{TEXT}", f"On foxes.\n\n{TEXT}")],
    "marks for line breaks": [("A fox ran. <newline> <newline> It rained.", "A fox ran.\n\nIt rained.")],
    "names of speakers in a transcript": [
        (
            CUES.format(*(f"{'Ann Lee' if n % 2 else 'Bo'}: {line}" for n, line in enumerate(LINES))),
            CUES.format(*LINES),
        ),
        (CUES.format(*(f"<v Ann Lee>{line}</v>" for line in LINES)), CUES.format(*LINES)),
        (f"Note: {TEXT}", f"Note: {TEXT}"),
    ],
    "numbers and times of subtitles": [(CUES.format(*LINES), SPOKEN), ("It was 10:15 --> late.",) * 2],
    "marks of a conversion": [
        ("::: {.chapter}\nA [fox]{.calibre2} ran [@fox2020].\n:::", "A fox ran.\n"),
        ('<div class="a">\n\nA fox ran.\n\n</div>', "\nA fox ran.\n\n"),
        ("# Foxes {#sec:foxes}", "# Foxes"),
    ],
    "tags of HTML": [
        ("<p>A <i>fox</i> &amp; a bell.</p>\n<p>It ran.<br/>Far.</p>", "A fox & a bell.\n\n\nIt ran.\n\nFar.\n\n"),
        ("A paragraph begins with <p> in HTML.",) * 2,
    ],
    "links, files and comments of wikis": [
        ("A [[fox]] met the [[the old bell|bell]].\n![[fox.png]]\n%% true? %%", "A fox met the bell.\n\n"),
        ("A list [[1], [2]], at 50%% of it.",) * 2,
    ],
    "thematic breaks in Markdown": [
        ("A fox ran.\n---\nIt rained.\n* * *", "A fox ran.\nIt rained.\n"),
        ("-- and so on --",) * 2,
    ],
    "marks of bold and italic type in Markdown": [
        ("A **red *old* fox** _ran_ ***far***, __far__.", "A red old fox ran far, far."),
        ("这是**重点**内容。", "这是重点内容。"),
        ("2*3*4, f**k, a_b_c, * one * two, `**kwargs`, \\*so\\*.",) * 2,
    ],
    "images in Markdown": [('![A *fox*](https://x.org/a.png "fox")\nIt ran!', "\nIt ran!")],
    "footnotes in Markdown": [("A fox ran.[^1]\n\n[^1]: N. Nobody,\n    *Foxes*.\n", "A fox ran.\n\n")],
    "rows of tables in Markdown": [
        ("A fox.\n\n| year | what |\n|---|:-:|\n| 1901 | flood |\n\nIt ran.", "A fox.\n\n\nIt ran."),
        ("| a fox | a bell |",) * 2,
    ],
    "addresses of links in Markdown": [
        ("See [the archive](https://x.org/a_(b)?c=1).", "See the archive."),
        ("Call f[i](x).", "Call f[i](x)."),
    ],
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_surrounds_a_text_is_taken_off_and_what_it_speaks_of_stays(kind):
    (wrapper,) = (wrapper for wrapper in (*WRAPPERS, *MARKS) if wrapper.name == kind)
    for given, expected in EXAMPLES[kind]:
        assert wrapper.without(given) == expected
        assert wrapper.without(expected) == expected


def test_captions_that_repeat_are_said_once():
    """Each cue repeats the last line and adds one; a refrain that is sung twice is no such cue."""
    text, removed, _ = unwrap(f"WEBVTT\nKind: captions\n\n{ROLLING}")
    assert text == SPOKEN
    assert removed == ["lines of captions that repeat", "numbers and times of subtitles"]
    twice = [*LINES[:4], LINES[3]]
    assert unwrap(CUES.format(*twice))[0] == " ".join(twice)


def test_every_kind_has_an_example():
    assert {wrapper.name for wrapper in (*WRAPPERS, *MARKS)} == {*EXAMPLES, "lines of captions that repeat"}


def read(tmp_path, texts, **how):
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    provenance = Provenance("x")
    documents = list(read_user_documents([tmp_path / "mine.jsonl"], provenance, 0.1, 0.1, Selection(**how)))
    return documents, provenance


def test_removals_are_counted_per_kind_and_can_be_switched_off(tmp_path):
    texts = [f"A fox ran.{end}" for end in ("<|im_end|>", "</s>", "")] + ["Tokens such as <|im_end|> end texts."]
    documents, provenance = read(tmp_path, texts)
    assert [document.text for document in documents] == ["A fox ran."] * 3 + texts[3:]
    assert ("control tokens", 2, 2) in [(count.filter, count.kept, count.dropped) for count in provenance.counts]
    assert describe_said(provenance) == ["1 text with control tokens within sentences, which stay"]
    documents, provenance = read(tmp_path, texts, keep_wrappers=True)
    assert [document.text for document in documents] == texts
    assert "control tokens" not in [count.filter for count in provenance.counts]


def test_headings_in_bold_type_stay_headings_and_a_rule_is_no_section(tmp_path):
    text = "**Early**\n\nA *red* fox ran.\n\n---\n\n**Late**\n\nIt rained."
    documents, provenance = read(tmp_path, [text, "A fox ran.\n\n***\n\nIt rained."])
    assert [[(section.title, section.text) for section in document.sections] for document in documents] == [
        [("Early", "A red fox ran."), ("Late", "It rained.")],
        [(None, "A fox ran."), (None, "It rained.")],
    ]
    assert {count.filter: count.dropped for count in provenance.counts if count.dropped} == {
        "thematic breaks in Markdown": 2,
        "marks of bold and italic type in Markdown": 1,
    }
    assert "*red*" in read(tmp_path, [text], keep_wrappers=True)[0][0].text


CHATML = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWrite.<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = [CHATML, "system\nBe brief.\nuser\nWrite.\nassistant\n", "<s>[INST] Be brief.\n\nWrite. [/INST]"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_template_around_a_prompt_or_a_section_is_no_part_of_it(prompt, tmp_path):
    """The prompt is that of the same messages; a text without a prompt of its own has that of its template."""
    records = [{"prompt": prompt, "sections": ["A **fox**</s>", {"text": "ran."}]}, {"text": f"{prompt}A fox ran."}]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    provenance = Provenance("x")
    documents = list(read_user_documents([tmp_path / "f.jsonl"], provenance, 0.1, 0.1, Selection()))
    assert [document.prompt for document in documents] == ["Be brief.\n\nWrite."] * 2
    assert [section.text for section in documents[0].sections] == ["A fox", "ran."]
    counts = {count.filter: count.dropped for count in provenance.counts}
    assert counts["a chat template around the prompt"] == counts["control tokens"] == 1
    assert read_user_documents([tmp_path / "f.jsonl"], provenance, 0.1, 0.1, Selection(keep_wrappers=True))
    kept = list(read_user_documents([tmp_path / "f.jsonl"], provenance, 0.1, 0.1, Selection(keep_wrappers=True)))
    assert kept[0].prompt == prompt


def test_the_title_of_front_matter_and_of_gutenberg_is_the_document_s(tmp_path):
    texts = [EXAMPLES[kind][0][0] for kind in ("YAML front matter", "the header and the licence of Project Gutenberg")]
    assert [document.title for document in read(tmp_path, texts)[0]] == ["Foxes", "Foxes"]


def test_tokenised_texts_are_said_and_repaired_on_request(tmp_path):
    text = 'A fox , the red one , ran . It did n\'t stop . " Come , " said Ann ( the baker ) .'
    assert is_tokenised(text)
    assert not is_tokenised("Il dit : « Viens ! » et partit. Puis, rien.")
    documents, provenance = read(tmp_path, [text])
    assert documents[0].text == text
    (sentence,) = describe_said(provenance)
    assert sentence.startswith("1 text with blanks before punctuation")
    documents, provenance = read(tmp_path, [text], detokenize=True)
    assert documents[0].text == 'A fox, the red one, ran. It didn\'t stop. "Come," said Ann (the baker).'
    assert ("blanks before punctuation, as in tokenised text", 1) in [(c.filter, c.dropped) for c in provenance.counts]
