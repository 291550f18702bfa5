"""Captions of plug-ins: whatever stands in them, the report is written."""

import logging
from types import SimpleNamespace

import pytest

from macroscope.reporting import html_blocks
from macroscope.reporting.html_blocks import Captions

from ...plugins import install


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        (b"Share of {{ options.size }}.", "<p>Share of 2.</p>"),
        (b"<b>bold</b>", "&lt;b&gt;bold"),  # text
        (b".. raw:: html\n\n   <script>alert(1)</script>\n", "<pre>.. raw:: html\n\n   &lt;script&gt;alert(1)"),
        (b"{{ 1 / 0 }}", "<pre>{{ 1 / 0 }}"),
        (b"{% for", "<pre>{% for"),
        (b"caf\xe9", "<pre>caf\N{REPLACEMENT CHARACTER}"),
        (None, ""),
    ],
)
def test_a_caption_never_ends_a_report(tmp_path, monkeypatch, caplog, caption, shown):
    install(tmp_path, monkeypatch)
    plugin = html_blocks.get_critic("theirs")
    if caption is not None:
        (tmp_path / "theirs" / "captions" / "length.rst").write_bytes(caption)
    statistics = SimpleNamespace(confidence=0.95, margin=0.05)
    config = SimpleNamespace(statistics=statistics, critic=lambda _: plugin.options(size=2))
    with caplog.at_level(logging.WARNING, "macroscope"):
        html = Captions(SimpleNamespace(config=config)).critic_html("theirs", "length")
    assert shown in html
    assert "<script>" not in html
    assert ("shown as it is written" in caplog.text) == (shown.startswith("<pre>") or not html)
