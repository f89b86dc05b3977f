from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo_models.words import (
    FEWEST_WORDS,
    MOST_BYTES,
    UNKNOWN,
    documentation,
    make_corpus,
    read_text,
    split_words,
    windows,
)


def test_words_and_signs_are_split_and_runs_of_a_sign_are_one_word():
    assert split_words("The *end*: >>> x_1 == Été…\n-------\n--") == [
        *("the", "*", "end", "*", ":", ">>>", "x_1", "==", "été", "…", "---", "--")
    ]


def test_the_documentation_is_long_and_has_no_paragraph_twice():
    paragraphs = documentation().split("\n\n")
    assert len(paragraphs) == len(set(paragraphs))
    assert len(split_words(documentation())) > 50_000


def text_of(counts: dict[str, int]) -> list[str]:
    return [word for word, count in counts.items() for _ in range(count)]


def test_vocabulary_is_by_frequency_and_rare_words_are_unknown():
    common = text_of({"b": 5, "a": 1900, "rare": 3, "c": 50})
    words = common + ["new"] * 50 + ["a"] * 200  # 2208 words, of which 221 are held out
    corpus = make_corpus(words, 100)
    assert corpus.vocabulary == (UNKNOWN, "a", "c", "new", "b")
    assert len(corpus.held_out) == 221
    numbers = np.concatenate((corpus.train, corpus.held_out))
    for word, number in zip(words, numbers, strict=True):
        assert corpus.vocabulary[number] == (UNKNOWN if word == "rare" else word)


def test_vocabulary_is_cut_at_its_size_and_does_not_see_the_held_out_text():
    words = text_of({"a": 1000, "b": 900, "c": 100, "later": 200})
    assert make_corpus(words, 3).vocabulary == (UNKNOWN, "a", "b")
    assert "later" not in make_corpus(words, 100).vocabulary


def test_a_text_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match=f"text must have at least {FEWEST_WORDS} words, got 3"):
        make_corpus(["a", "b", "c"], 100)


def test_a_text_that_never_repeats_itself_is_refused():
    with pytest.raises(ValueError, match="text must have a word that occurs more than 3 times, got none"):
        make_corpus([str(number) for number in range(3000)], 100)


@given(st.integers(1, 12), st.integers(0, 5), st.integers(1, 6), st.integers(0, 9), st.integers(40, 90))
def test_each_stream_goes_on_where_it_stopped(streams, before, length, seed, count):
    text = np.arange(count)
    per_epoch = max(length, count // streams) // length
    batches = [windows(text, seed, step, streams, before, length) for step in range(1, per_epoch + 1)]
    assert batches[0].shape == (streams, before + length + 1)
    for window in batches:
        assert (np.diff(window) % count == 1).all()  # neighbours in the text are neighbours in a window
    for earlier, later in pairwise(batches):
        assert np.array_equal(later[:, before], earlier[:, before + length])  # the last target is the next first word


def test_a_pass_over_the_text_reads_almost_every_word_once():
    text = np.arange(1003)
    per_epoch = (1003 // 4) // 5
    read = np.concatenate([windows(text, 0, step, 4, 0, 5)[:, :-1].ravel() for step in range(1, per_epoch + 1)])
    assert len(np.unique(read)) == len(read) == 4 * per_epoch * 5 == 1000


def test_windows_depend_on_seed_and_pass():
    text = np.arange(1000)
    first = windows(text, 0, 1, 4, 2, 5)
    assert np.array_equal(first, windows(text, 0, 1, 4, 2, 5))
    assert not np.array_equal(first, windows(text, 1, 1, 4, 2, 5))
    assert not np.array_equal(first, windows(text, 0, 1 + 50, 4, 2, 5))


def test_a_text_file_is_read(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffÄpfel und Birnen".encode())
    assert read_text(str(path)) == "Äpfel und Birnen"


def test_a_file_that_is_not_text_is_refused_with_what_is_wrong(tmp_path):
    for content, message in (
        (b"fine so far \xff and on", "file must be UTF-8 text, got byte 0xff at position 12 in"),
        (b"a" * (MOST_BYTES + 1), f"file must have at most {MOST_BYTES} bytes, got more in"),
    ):
        (tmp_path / "text.txt").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_text(str(tmp_path / "text.txt"))


@pytest.mark.parametrize("file", ["/nowhere/text.txt", "/dev/zero", "/", "~nobody-has-this-name/x", "x" * 4000])
def test_what_is_not_a_regular_file_is_refused_by_name(file):
    with pytest.raises(ValueError, match=f"file must be a text file, got '{file}"):
        read_text(file)
