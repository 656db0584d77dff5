"""The language check: it never abstains on English about this trade, and says so for other languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interviewer.adapters.language import EnglishCheck

ANSWERS = Path(__file__).parents[2] / "eval" / "data" / "answers"


@pytest.fixture(scope="module")
def english() -> EnglishCheck:
    return EnglishCheck()


def test_no_labelled_answer_is_taken_for_another_language(english: EnglishCheck) -> None:
    rows = [
        json.loads(line)
        for path in sorted(ANSWERS.glob("set_*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    ours = [row for row in rows if row.get("style") != "not_english"]
    assert len(ours) > 400
    assert [row["id"] for row in ours if not english(row["answer"])] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "42",
        "p99",
        "I do not know.",
        "No idea, sorry.",
        "vLLM, TensorRT-LLM, SGLang and llama.cpp; p99 TTFT 480 ms, ITL 22 ms at batch 32 on an H100.",
        "KV cache per token = 2 * layers * kv_heads * head_dim * bytes",
        "```python\nfür = sum(x for x in größen)\n```",
        "`SELECT straße FROM häuser` was the query that I profiled in the end.",
        "Yes: LoRA r=16, alpha=32, dropout 0.05, lr 2e-4, 3 epochs, bf16.",
        "In my last job at Müller & Söhne in Zürich I led the café project with José and Zoë.",
        "🙂🙂🙂",
        "x = [1, 2, 3]; y = {k: v for k, v in zip(a, b)}",
    ],
)
def test_english_terms_and_code_are_english(english: EnglishCheck, text: str) -> None:
    assert english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wir haben die Latenz im neunundneunzigsten Perzentil unter 800 ms gehalten, weil der Nutzer wartet.",
        "Nous avons gardé la latence sous 800 millisecondes parce que l'utilisateur attend la fin de la réponse.",
        "Mantuvimos la latencia por debajo de 800 milisegundos porque el usuario espera la respuesta completa.",
        "Mantivemos a latência abaixo de 800 milissegundos porque o usuário espera pela resposta completa.",
        "Abbiamo mantenuto la latenza sotto gli 800 millisecondi perché l'utente aspetta la risposta.",
        "We hebben de latentie onder de 800 milliseconden gehouden omdat de gebruiker op het antwoord wacht.",
        "Utrzymaliśmy opóźnienie poniżej 800 milisekund, ponieważ użytkownik czeka na odpowiedź.",
        "Мы удержали задержку ниже восьмисот миллисекунд, потому что пользователь ждёт ответа.",
        "Kullanıcı cevabı beklediği için gecikmeyi 800 milisaniyenin altında tuttuk.",
        "我们把第九十九百分位的延迟保持在八百毫秒以下，因为用户在等待答案。",
        "ユーザーが待っているので、レイテンシを八百ミリ秒以下に保ちました。",
        "사용자가 답변을 기다리기 때문에 지연 시간을 팔백 밀리초 이하로 유지했습니다.",
        "हमने विलंबता को आठ सौ मिलीसेकंड से कम रखा क्योंकि उपयोगकर्ता उत्तर की प्रतीक्षा करता है।",
        "حافظنا على زمن الاستجابة أقل من ثمانمائة ميلي ثانية لأن المستخدم ينتظر الإجابة.",
        "Chúng tôi giữ độ trễ dưới 800 mili giây vì người dùng đang chờ câu trả lời.",
        "我不知道",
    ],
)
def test_other_languages_are_noticed(english: EnglishCheck, text: str) -> None:
    assert not english(text)


def test_the_same_text_gets_the_same_answer(english: EnglishCheck) -> None:
    text = "We kept p99 at 800 ms, weil der Nutzer wartet."
    assert len({english(text) for _ in range(5)}) == 1
