"""English-Russian: words, forms and word order.

Russian puts the time first and keeps the object before the place: Вчера Анна с удовольствием
купила сыр за границей. The accusative of people equals their genitive; a question with кто takes
a masculine verb; вы takes the plural.
"""

from concatmt.testbed import english
from concatmt.testbed.words import (
    Address,
    Adjuncts,
    Animate,
    Deed,
    Government,
    Language,
    Name,
    Noun,
    Person,
    Phrase,
    Predicate,
    Role,
    Verb,
)

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
AGAIN = (
    Phrase("again", "снова"),
    Phrase("for no particular reason", "без особой причины"),
    Phrase("for the first time in many years", "впервые за много лет"),
)
ADJUNCTS: dict[str, Adjuncts] = {
    "past": {
        "time": TIMES,
        "manner": (
            *AGAIN,
            Phrase("together with a few old friends", "вместе с несколькими старыми друзьями"),
            Phrase("with great pleasure", "с большим удовольствием"),
            Phrase("with a heavy heart", "с тяжёлым сердцем"),
            Phrase("in a great hurry", "в большой спешке"),
            Phrase("at last", "наконец"),
        ),
        "place": PLACES,
    },
    "encounter": {"time": TIMES, "manner": AGAIN, "place": PLACES},
    "mishap": {
        "time": TIMES,
        "manner": (*AGAIN, Phrase("quite by chance", "совершенно случайно")),
        "place": WIDE_PLACES,
    },
    "crowd": {
        "time": TIMES,
        "manner": (*AGAIN, Phrase("without a break", "без перерыва")),
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

NOUNS = {
    "food": (
        (
            Noun("cheese", "сыр", "сыр"),
            Noun("soup", "суп", "суп"),
            Noun("salad", "салат", "салат"),
            Noun("cake", "торт", "торт"),
            Noun("bread", "хлеб", "хлеб"),
        ),
        (
            Noun("fish", "рыба", "рыбу"),
            Noun("pear", "груша", "грушу"),
            Noun("porridge", "каша", "кашу"),
            Noun("sausage", "колбаса", "колбасу"),
            Noun("cabbage", "капуста", "капусту"),
        ),
        (
            Noun("meat", "мясо", "мясо"),
            Noun("apple", "яблоко", "яблоко"),
            Noun("jam", "варенье", "варенье"),
            Noun("milk", "молоко", "молоко"),
            Noun("butter", "масло", "масло"),
        ),
    ),
    "furniture": (
        (
            Noun("table", "стол", "стол"),
            Noun("chair", "стул", "стул"),
            Noun("wardrobe", "шкаф", "шкаф"),
            Noun("chest", "сундук", "сундук"),
            Noun("sofa", "диван", "диван"),
        ),
        (
            Noun("bench", "скамейка", "скамейку"),
            Noun("shelf", "полка", "полку"),
            Noun("lamp", "лампа", "лампу"),
            Noun("door", "дверь", "дверь"),
            Noun("bed", "кровать", "кровать"),
        ),
        (
            Noun("armchair", "кресло", "кресло"),
            Noun("mirror", "зеркало", "зеркало"),
            Noun("window", "окно", "окно"),
            Noun("piano", "пианино", "пианино"),
            Noun("bureau", "бюро", "бюро"),
        ),
    ),
    "event": (
        (
            Noun("film", "фильм", "фильм"),
            Noun("concert", "концерт", "концерт"),
            Noun("match", "матч", "матч"),
            Noun("contest", "конкурс", "конкурс"),
            Noun("festival", "фестиваль", "фестиваль"),
        ),
        (
            Noun("lecture", "лекция", "лекцию"),
            Noun("exhibition", "выставка", "выставку"),
            Noun("play", "пьеса", "пьесу"),
            Noun("opera", "опера", "оперу"),
            Noun("excursion", "экскурсия", "экскурсию"),
        ),
        (
            Noun("performance", "представление", "представление"),
            Noun("meeting", "собрание", "собрание"),
            Noun("competition", "соревнование", "соревнование"),
            Noun("celebration", "торжество", "торжество"),
            Noun("show", "шоу", "шоу"),
        ),
    ),
}
VERBS = {
    "food": (
        Verb("bought", ("купил", "купила", "купило", "купили")),
        Verb("brought", ("принёс", "принесла", "принесло", "принесли")),
        Verb("ordered", ("заказал", "заказала", "заказало", "заказали")),
    ),
    "furniture": (
        Verb("sold", ("продал", "продала", "продало", "продали")),
        Verb("cleaned", ("почистил", "почистила", "почистило", "почистили")),
        Verb("examined", ("осмотрел", "осмотрела", "осмотрело", "осмотрели")),
    ),
    "event": (
        Verb("discussed", ("обсудил", "обсудила", "обсудило", "обсудили")),
        Verb("praised", ("похвалил", "похвалила", "похвалило", "похвалили")),
        Verb("criticised", ("раскритиковал", "раскритиковала", "раскритиковало", "раскритиковали")),
    ),
}
PREDICATES = {
    "food": (
        Predicate("tasty", ("вкусный", "вкусная", "вкусное")),
        Predicate("fresh", ("свежий", "свежая", "свежее")),
        Predicate("edible", ("съедобный", "съедобная", "съедобное")),
        Predicate("nutritious", ("питательный", "питательная", "питательное")),
    ),
    "furniture": (
        Predicate("antique", ("старинный", "старинная", "старинное")),
        Predicate("dusty", ("пыльный", "пыльная", "пыльное")),
        Predicate("broken", ("сломан", "сломана", "сломано")),
        Predicate("scratched", ("поцарапан", "поцарапана", "поцарапано")),
    ),
    "event": (
        Predicate("boring", ("скучный", "скучная", "скучное")),
        Predicate("exciting", ("увлекательный", "увлекательная", "увлекательное")),
        Predicate("funny", ("смешной", "смешная", "смешное")),
        Predicate("unforgettable", ("незабываемый", "незабываемая", "незабываемое")),
    ),
}
DOINGS = (
    Verb("laughed", ("смеялся", "смеялась", "смеялось", "смеялись")),
    Verb("slept", ("спал", "спала", "спало", "спали")),
    Verb("waited", ("ждал", "ждала", "ждало", "ждали")),
    Verb("sang", ("пел", "пела", "пело", "пели")),
    Verb("danced", ("танцевал", "танцевала", "танцевало", "танцевали")),
    Verb("shouted", ("кричал", "кричала", "кричало", "кричали")),
    Verb("rested", ("отдыхал", "отдыхала", "отдыхало", "отдыхали")),
    Verb("argued", ("спорил", "спорила", "спорило", "спорили")),
)
GOVERNMENT = (
    (  # accusative
        Government("see", "saw", ("видел", "видела", "видело", "видели")),
        Government("meet", "met", ("встретил", "встретила", "встретило", "встретили")),
        Government("invite", "invited", ("пригласил", "пригласила", "пригласило", "пригласили")),
    ),
    (  # dative
        Government("help", "helped", ("помог", "помогла", "помогло", "помогли")),
        Government("answer", "answered", ("ответил", "ответила", "ответило", "ответили")),
        Government("believe", "believed", ("поверил", "поверила", "поверило", "поверили")),
    ),
    (  # instrumental
        Government(
            "admire", "admired", ("восхищался", "восхищалась", "восхищалось", "восхищались")
        ),
        Government(
            "command", "commanded", ("командовал", "командовала", "командовало", "командовали")
        ),
        Government(
            "supervise", "supervised", ("руководил", "руководила", "руководило", "руководили")
        ),
    ),
)
PERSONS = (
    Person("Ivan", 0, "Иван", "Ивана"),
    Person("Anna", 1, "Анна", "Анну"),
    Person("Oleg", 0, "Олег", "Олега"),
    Person("Vera", 1, "Вера", "Веру"),
    Person("Pavel", 0, "Павел", "Павла"),
    Person("Olga", 1, "Ольга", "Ольгу"),
    Person("Anton", 0, "Антон", "Антона"),
    Person("Nina", 1, "Нина", "Нину"),
)
ANIMATES = (
    Animate("teacher", ("учитель", "учителя", "учителю", "учителем")),
    Animate("doctor", ("врач", "врача", "врачу", "врачом")),
    Animate("nurse", ("медсестра", "медсестру", "медсестре", "медсестрой")),
    Animate("artist", ("художник", "художника", "художнику", "художником")),
    Animate("student", ("студент", "студента", "студенту", "студентом")),
    Animate("guard", ("охранник", "охранника", "охраннику", "охранником")),
    Animate("ballerina", ("балерина", "балерину", "балерине", "балериной")),
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
