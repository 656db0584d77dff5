"""The page in Simplified Chinese: every text of every module, the switch, and what stays English."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import steps
from tests.site import Site

STATIC = Path(__file__).parents[2] / "interviewer" / "web" / "static"
STRING = r'"(?:[^"\\]|\\.)*"'
SWITCH = "#language"


def used() -> set[str]:
    """Return the texts that modules pass to ``t`` and ``tn`` (its last form), and those of the document."""
    document = (STATIC / "index.html").read_text(encoding="utf-8")
    found = set(re.findall(r"data-t>([^<]+)<", document))
    found |= set(re.findall(r'aria-label="([^"]+)" data-t-label', document))
    for path in STATIC.glob("*.js"):
        if path.name != "zh.js":
            code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            found |= {json.loads(text) for text in re.findall(rf"(?<![\w.])t\(({STRING})", code)}
            found |= {json.loads(text) for text in re.findall(rf"(?<![\w.])tn\(.*?, {STRING}, ({STRING})\)", code)}
    return found


def translated() -> dict[str, str]:
    """Return the dictionary's texts as the file has them."""
    code = (STATIC / "zh.js").read_text(encoding="utf-8")
    body = code.split("export const texts = {")[1].split("\n};")[0]
    found: dict[str, str] = {}
    for quoted, bare, value in re.findall(rf"^  (?:({STRING})|(\w+)):\s+({STRING}),$", body, flags=re.M):
        key = json.loads(quoted) if quoted else bare
        assert key not in found, f"{key!r} stands twice"
        found[key] = json.loads(value)
    return found


def test_every_text_of_the_page_has_its_translation_and_none_is_left_over() -> None:
    texts = translated()
    assert used() - texts.keys() == set()
    assert texts.keys() - used() == set()


def test_a_translation_has_the_values_of_its_text() -> None:
    values = re.compile(r"\{(\w+)\}")
    wrong = [k for k, v in translated().items() if set(values.findall(k)) != set(values.findall(v))]
    assert wrong == []


def test_no_translation_is_the_english_text() -> None:
    words = {key: re.sub(r"\{.*?\}", "", value) for key, value in translated().items()}
    assert [
        key for key, word in words.items() if re.search("[A-Za-z]{4}", word) and not re.search("[\u3001-\u9fff]", word)
    ] == []


@pytest.fixture
def chinese(page: Page, site: Site) -> Page:
    page.goto(f"{site.url}/")
    page.select_option(SWITCH, "zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    return page


def test_the_switch_is_kept_over_a_reload_and_leads_back(chinese: Page) -> None:
    expect(chinese.get_by_role("heading", level=1)).to_have_text("开始一场面试")
    expect(chinese.get_by_role("navigation", name="主导航")).to_contain_text("历史记录")
    assert chinese.title() == "开始一场面试 - 模拟面试官"
    chinese.reload()
    expect(chinese.get_by_role("heading", level=1)).to_have_text("开始一场面试")
    chinese.select_option(SWITCH, "en")
    expect(chinese.get_by_role("heading", level=1)).to_have_text("Start an interview")
    expect(chinese.locator("html")).to_have_attribute("lang", "en")


def test_english_readers_do_not_load_the_dictionary(page: Page, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.url}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Start an interview")
    assert any(url.endswith("/i18n.js") for url in asked)
    assert not any(url.endswith("/zh.js") for url in asked)


def test_a_browser_that_reads_chinese_gets_chinese(browser: Browser, site: Site) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{site.url}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("开始一场面试")
    context.close()


def test_the_page_says_that_interviews_stay_english_and_why(chinese: Page) -> None:
    note = chinese.locator(".notice", has_text="面试以英文进行")
    expect(note).to_contain_text("弃权")


def test_a_round_in_chinese_keeps_the_question_english_and_a_switch_keeps_the_draft(chinese: Page, site: Site) -> None:
    chinese.get_by_text("Technical deep dive").first.click()
    chinese.get_by_role("button", name="开始本轮").click()
    log = chinese.get_by_role("region", name="对话")
    expect(log).to_contain_text(re.compile(r"[a-z]{4}.*\?"), timeout=30_000)
    expect(chinese.get_by_text("已连接")).to_be_visible()
    question = log.locator(".words").first.inner_text()
    chinese.get_by_role("textbox", name="您的回答").fill("A draft that is not sent.")
    chinese.select_option(SWITCH, "en")
    expect(chinese.get_by_role("textbox", name="Your answer")).to_have_value("A draft that is not sent.")
    expect(steps.conversation(chinese)).to_contain_text(question)


def test_a_refusal_is_told_by_its_code(chinese: Page, site: Site) -> None:
    chinese.goto(f"{site.url}/#/l/no-such-loop")
    expect(chinese.get_by_role("alert")).to_contain_text("没有这套面试。")
