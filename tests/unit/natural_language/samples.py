"""A text of two sentences in each of eleven languages, with facts about it that a reader can check."""

from typing import NamedTuple


class Sample(NamedTuple):
    sentences: tuple[str, str]
    words: list[str]
    """Words of the first sentence, in lower case."""
    stop_word: str
    title: str
    section_type: str


SAMPLES = {
    "de": Sample(
        ("Prof. Weber wohnt seit 1990 z. B. in Köln.", " Er arbeitet dort an der Universität."),
        ["prof", "weber", "wohnt", "seit", "z", "b", "in", "köln"],
        "der",
        "Auszeichnungen",
        "auszeichnung",
    ),
    "fr": Sample(
        ("L'homme habite une vieille maison.", " Il travaille à l'université de Lyon depuis dix ans."),
        ["l'homme", "habite", "une", "vieille", "maison"],
        "une",
        "Œuvres principales",
        "œuvre principal",
    ),
    "es": Sample(
        ("¿Dónde vive el señor García?", " Él trabaja en la universidad desde hace muchos años."),
        ["dónde", "vive", "el", "señor", "garcía"],
        "desde",
        "Premios",
        "premio",
    ),
    "it": Sample(
        ("Il dott. Rossi abita in una vecchia casa.", " Lavora all'università di Bologna da dieci anni."),
        ["il", "dott", "rossi", "abita", "in", "una", "vecchia", "casa"],
        "una",
        "Opere",
        "opera",
    ),
    "pt": Sample(
        ("O homem mora numa casa velha.", " Não trabalha na universidade de Coimbra há muitos anos."),
        ["o", "homem", "mora", "numa", "casa", "velha"],
        "não",
        "Prêmios",
        "prêmio",
    ),
    "nl": Sample(
        ("De man woont in een oud huis.", " Hij werkt al tien jaar aan de universiteit van Leiden."),
        ["de", "man", "woont", "in", "een", "oud", "huis"],
        "een",
        "Boeken",
        "boek",
    ),
    "ru": Sample(
        ("Этот человек живёт в старом доме.", " Он уже много лет работает в университете."),
        ["этот", "человек", "живёт", "в", "старом", "доме"],
        "этот",
        "Награды",
        "награда",
    ),
    "zh": Sample(
        ("我们在北京大学学习自然语言。", "他已经工作了很多年。"),
        ["我们", "在", "北京", "大学", "学习", "自然", "语言"],
        "在",
        "参考文献",
        "参考文献",
    ),
    "ja": Sample(
        ("猫は机の上にいます。", "彼は大学で何年も働いています。"),
        ["猫", "は", "机", "の", "上", "に", "い", "ます"],
        "は",
        "脚注",
        "脚注",
    ),
    "ar": Sample(
        ("هل يسكن الرجل في بيت قديم؟", " نعم، ويعمل في الجامعة منذ سنوات."),
        ["هل", "يسكن", "الرجل", "في", "بيت", "قديم"],
        "في",
        "كِتاب",
        "كتاب",
    ),
    "hi": Sample(
        ("वह आदमी पुराने घर में रहता है।", " वह कई सालों से विश्वविद्यालय में काम करता है।"),
        ["वह", "आदमी", "पुराने", "घर", "में", "रहता", "है"],
        "में",
        "सन्दर्भ",
        "संदर्भ",
    ),
}
