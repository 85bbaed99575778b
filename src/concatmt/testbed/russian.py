"""English-Russian: words, forms and word order.

Russian puts the time first and keeps the object before the place: Вчера Анна с удовольствием
купила сыр за границей. The accusative of people equals their genitive; a question with кто takes
a masculine verb; вы takes the plural.
"""

from concatmt.testbed import english
from concatmt.testbed.russian_words import (
    ANIMATES,
    DOINGS,
    GOVERNMENT,
    NOUNS,
    PERSONS,
    PREDICATES,
    VERBS,
)
from concatmt.testbed.words import Address, Adjuncts, Deed, Language, Name, Phrase, Role

ORDERS = {
    "past": ("time", "subject", "manner", "verb", "object", "place"),
    "weather": ("time", "place", "verb"),
    "habit": ("opener", "subject", "time", "manner", "verb", "place"),
    "address": ("subject", "manner", "verb", "object", "time", "vocative"),
    "role": ("subject", "object", "place"),
    "state": ("opener", "subject", "verb", "predicate", "tail"),
    "question": ("wh", "verb", "subject", "place", "time"),
    "answer": ("opener", "subject"),
}

TIMES = (
    Phrase("yesterday", "вчера"),
    Phrase("on Monday", "в понедельник"),
    Phrase("last week", "на прошлой неделе"),
    Phrase("in the evening", "вечером"),
    Phrase("shortly after midnight", "вскоре после полуночи"),
    Phrase("on the last day of the year", "в последний день года"),
    Phrase("two months ago", "два месяца назад"),
    Phrase("at noon", "в полдень"),
    Phrase("in early spring", "ранней весной"),
    Phrase("during the holidays", "во время каникул"),
)
WIDE_PLACES = (
    Phrase("abroad", "за границей"),
    Phrase("in the north", "на севере"),
    Phrase("not far from here", "недалеко отсюда"),
    Phrase("in the suburbs", "в пригороде"),
    Phrase("near the border", "у границы"),
)
PLACES = (
    *WIDE_PLACES,
    Phrase("outside", "на улице"),
    Phrase("upstairs", "наверху"),
    Phrase("on the other side of the street", "на другой стороне улицы"),
)
ONCE_MORE = (
    Phrase("again", "снова"),
    Phrase("for the first time in many years", "впервые за много лет"),
)
UNFORCED = (*ONCE_MORE, Phrase("for no particular reason", "без особой причины"))
ADJUNCTS: dict[str, Adjuncts] = {
    "past": {
        "time": TIMES,
        "manner": (
            *UNFORCED,
            Phrase("together with a few old friends", "вместе с несколькими старыми друзьями"),
            Phrase("with great pleasure", "с большим удовольствием"),
            Phrase("with a heavy heart", "с тяжёлым сердцем"),
            Phrase("in a great hurry", "в большой спешке"),
            Phrase("in the end", "в конце концов"),
        ),
        "place": PLACES,
    },
    "encounter": {"time": TIMES, "manner": UNFORCED, "place": PLACES},
    "mishap": {
        "time": TIMES,
        "manner": (*ONCE_MORE, Phrase("quite by chance", "совершенно случайно")),
        "place": WIDE_PLACES,
    },
    "crowd": {
        "time": TIMES,
        "manner": (*UNFORCED, Phrase("without a break", "без перерыва")),
        "place": PLACES,
    },
    "weather": {"time": TIMES, "place": WIDE_PLACES},
    "habit": {
        "time": (
            Phrase("every day", "каждый день"),
            Phrase("on Sundays", "по воскресеньям"),
            Phrase("in the evenings", "по вечерам"),
            Phrase("long before sunrise", "задолго до рассвета"),
        ),
        "manner": (
            Phrase("with great pleasure", "с большим удовольствием"),
            Phrase("for no particular reason", "без особой причины"),
            Phrase("together with a few old friends", "вместе с несколькими старыми друзьями"),
        ),
        "place": WIDE_PLACES,
    },
    "address": {
        "time": (
            Phrase("even at night", "даже ночью"),
            Phrase("in the dark", "в темноте"),
            Phrase("at the end of the day", "в конце дня"),
        ),
        "manner": (
            Phrase("well", "хорошо"),
            Phrase("better than all the others", "лучше всех остальных"),
            Phrase("as well as the others", "не хуже других"),
        ),
    },
    "role": {
        "place": (
            Phrase("from a small town", "из маленького города"),
            Phrase("from the south", "с юга"),
            Phrase("from a rich family", "из богатой семьи"),
            Phrase("from a village near the sea", "из деревни у моря"),
        ),
    },
    "question": {"time": TIMES, "place": PLACES},
}
TAILS = (
    Phrase("according to the press", ", по мнению прессы"),
    Phrase("without any doubt", ", без всякого сомнения"),
    Phrase("as far as we know", ", насколько мы знаем"),
    Phrase("in the opinion of most people", ", по мнению большинства"),
)

RUSSIAN = Language(
    pair="en-ru",
    left_out={},
    orders=ORDERS,
    english_orders=english.ORDERS,
    adjuncts=ADJUNCTS,
    tails=TAILS,
    nouns=NOUNS,
    verbs=VERBS,
    predicates=PREDICATES,
    pronouns=("он", "она", "оно"),
    copula=("был", "была", "было"),
    ordinals=(("первый", "первая", "первое"), ("второй", "вторая", "второе")),
    conjunctions={"and": "и", "but": "но", "yes": "да ,"},
    persons=PERSONS,
    habits=(
        Phrase("smokes", "курит"),
        Phrase("sings", "поёт"),
        Phrase("draws", "рисует"),
        Phrase("works", "работает"),
        Phrase("dances", "танцует"),
        Phrase("studies", "учится"),
        Phrase("travels", "путешествует"),
        Phrase("cooks", "готовит"),
    ),
    names=(
        Name("Watson", ("Ватсон", "Уотсон")),
        Name("Wilson", ("Вильсон", "Уилсон")),
        Name("Hudson", ("Гудзон", "Хадсон")),
        Name("Huxley", ("Гексли", "Хаксли")),
        Name("Hamilton", ("Гамильтон", "Хэмилтон")),
        Name("Walter", ("Вальтер", "Уолтер")),
        Name("William", ("Вильям", "Уильям")),
        Name("Henry", ("Генри", "Хенри")),
    ),
    crowds=(
        Phrase("the children", "дети"),
        Phrase("the guests", "гости"),
        Phrase("the tourists", "туристы"),
        Phrase("the sailors", "матросы"),
        Phrase("the musicians", "музыканты"),
        Phrase("the travellers", "путешественники"),
        Phrase("the fishermen", "рыбаки"),
        Phrase("the climbers", "альпинисты"),
    ),
    doings=DOINGS,
    weather=(
        (Phrase("it", ""), Phrase("rained", "шёл дождь")),
        (Phrase("it", ""), Phrase("snowed", "шёл снег")),
        (Phrase("it", ""), Phrase("hailed", "шёл град")),
        (Phrase("it", ""), Phrase("thundered", "гремел гром")),
    ),
    you=("ты", "вы"),
    addresses=(
        Address("know the way", ("знаешь", "знаете"), "дорогу"),
        Address("hear the music", ("слышишь", "слышите"), "музыку"),
        Address("see the harbour", ("видишь", "видите"), "гавань"),
        Address("understand the question", ("понимаешь", "понимаете"), "вопрос"),
        Address("remember the song", ("помнишь", "помните"), "песню"),
        Address("read the map", ("читаешь", "читаете"), "карту"),
        Address("play the guitar", ("играешь", "играете"), "на гитаре"),
        Address("paint the ships", ("красишь", "красите"), "корабли"),
        Address("speak the language", ("говоришь", "говорите"), "на этом языке"),
    ),
    vocatives=(
        (
            Phrase("buddy", "дружище"),
            Phrase("sweetie", "солнышко"),
            Phrase("kid", "малыш"),
            Phrase("pal", "приятель"),
        ),
        (
            Phrase("sir", "сэр"),
            Phrase("madam", "мадам"),
            Phrase("professor", "профессор"),
            Phrase("captain", "капитан"),
        ),
    ),
    questions=("кто", "кого", "кому", "кем"),
    government=GOVERNMENT,
    animates=ANIMATES,
    answers=(
        Phrase("probably", "наверное ,"),
        Phrase("of course ,", "конечно ,"),
        Phrase("perhaps", "может быть ,"),
    ),
    roles=(
        Role(("waiter", "waitress"), ("официант", "официантка")),
        Role(("actor", "actress"), ("актёр", "актриса")),
        Role(("steward", "stewardess"), ("стюард", "стюардесса")),
        Role(("prince", "princess"), ("принц", "принцесса")),
        Role(("monk", "nun"), ("монах", "монахиня")),
        Role(("widower", "widow"), ("вдовец", "вдова")),
        Role(("king", "queen"), ("король", "королева")),
        Role(("host", "hostess"), ("хозяин", "хозяйка")),
    ),
    deeds=(
        Deed("lost the key", ("потерял", "потеряла"), "ключ"),
        Deed("forgot the address", ("забыл", "забыла"), "адрес"),
        Deed("missed the train", ("опоздал", "опоздала"), "на поезд"),
        Deed("opened the box", ("открыл", "открыла"), "коробку"),
        Deed("broke the cup", ("разбил", "разбила"), "чашку"),
        Deed("found the money", ("нашёл", "нашла"), "деньги"),
        Deed("woke the neighbours", ("разбудил", "разбудила"), "соседей"),
    ),
)
