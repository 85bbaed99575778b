"""English-German: words, forms and word order.

The finite verb stands second: a time at the front pushes the subject behind it. In the middle
field time comes before manner and manner before place. Only masculine nouns tell the accusative
from the nominative, so `case` asks about men, with strong and weak nouns, and has three options.
"""

from concatmt.testbed import english
from concatmt.testbed.german_words import (
    ANIMATES,
    DOINGS,
    GOVERNMENT,
    NOUNS,
    PERSONS,
    PREDICATES,
    VERBS,
)
from concatmt.testbed.words import Address, Adjuncts, Language, Name, Phrase

ORDERS = {
    "past": ("subject", "verb", "object", "manner", "place"),
    "past, time first": ("time", "verb", "subject", "object", "manner", "place"),
    "weather": ("subject", "verb", "place"),
    "weather, time first": ("time", "verb", "subject", "place"),
    "habit": ("opener", "subject", "verb", "time", "manner", "place"),
    "address": ("subject", "verb", "object", "time", "manner", "vocative"),
    "state": ("opener", "subject", "verb", "tail", "predicate"),
    "question": ("wh", "verb", "subject", "time", "place"),
    "answer": ("opener", "subject"),
}

TIMES = (
    Phrase("yesterday", "gestern"),
    Phrase("on Monday", "am Montag"),
    Phrase("last week", "letzte Woche"),
    Phrase("in the evening", "am Abend"),
    Phrase("shortly after midnight", "kurz nach Mitternacht"),
    Phrase("on the last day of the year", "am letzten Tag des Jahres"),
    Phrase("two months ago", "vor zwei Monaten"),
    Phrase("at noon", "am Mittag"),
    Phrase("in early spring", "im Vorfrühling"),
    Phrase("during the holidays", "während der Ferien"),
)
WIDE_PLACES = (
    Phrase("abroad", "im Ausland"),
    Phrase("in the north", "im Norden"),
    Phrase("not far from here", "hier in der Nähe"),
    Phrase("in the suburbs", "in der Vorstadt"),
    Phrase("near the border", "nahe der Grenze"),
)
PLACES = (
    *WIDE_PLACES,
    Phrase("outside", "draußen"),
    Phrase("upstairs", "oben"),
    Phrase("on the other side of the street", "auf der anderen Seite der Straße"),
)
UNFORCED = (
    Phrase("again", "wieder"),
    Phrase("for no particular reason", "ohne besonderen Grund"),
    Phrase("for the first time in many years", "zum ersten Mal seit vielen Jahren"),
)
ADJUNCTS: dict[str, Adjuncts] = {
    "past": {
        "time": TIMES,
        "manner": (
            *UNFORCED,
            Phrase("together with a few old friends", "zusammen mit ein paar alten Freunden"),
            Phrase("with great pleasure", "mit großem Vergnügen"),
            Phrase("with a heavy heart", "schweren Herzens"),
            Phrase("in a great hurry", "in großer Eile"),
            Phrase("in the end", "schließlich"),
        ),
        "place": PLACES,
    },
    "encounter": {"time": TIMES, "manner": UNFORCED, "place": PLACES},
    "crowd": {
        "time": TIMES,
        "manner": (*UNFORCED, Phrase("without a break", "ohne Pause")),
        "place": PLACES,
    },
    "weather": {"time": TIMES, "place": WIDE_PLACES},
    "habit": {
        "time": (
            Phrase("every day", "jeden Tag"),
            Phrase("on Sundays", "sonntags"),
            Phrase("in the evenings", "abends"),
            Phrase("long before sunrise", "lange vor Sonnenaufgang"),
        ),
        "manner": (
            Phrase("with great pleasure", "mit großem Vergnügen"),
            Phrase("for no particular reason", "ohne besonderen Grund"),
            Phrase("together with a few old friends", "zusammen mit ein paar alten Freunden"),
        ),
        "place": WIDE_PLACES,
    },
    "address": {
        "time": (
            Phrase("even at night", "sogar in der Nacht"),
            Phrase("in the dark", "im Dunkeln"),
            Phrase("at the end of the day", "am Ende des Tages"),
        ),
        "manner": (
            Phrase("well", "gut"),
            Phrase("better than all the others", "besser als alle anderen"),
            Phrase("as well as the others", "genauso gut wie die anderen"),
        ),
    },
    "question": {"time": TIMES, "place": PLACES},
}
TAILS = (
    Phrase("according to the press", "laut der Presse"),
    Phrase("without any doubt", "ohne jeden Zweifel"),
    Phrase("as far as we know", "unseres Wissens"),
    Phrase("in the opinion of most people", "nach Meinung der meisten Leute"),
)

GERMAN = Language(
    pair="en-de",
    left_out={"spk": "German verbs and predicates do not show the speaker's gender"},
    orders=ORDERS,
    english_orders=english.ORDERS,
    adjuncts=ADJUNCTS,
    tails=TAILS,
    nouns=NOUNS,
    verbs=VERBS,
    predicates=PREDICATES,
    pronouns=("er", "sie", "es"),
    copula=("war", "war", "war"),
    ordinals=(
        ("der erste", "die erste", "das erste"),
        ("der zweite", "die zweite", "das zweite"),
    ),
    conjunctions={"and": "und", "but": "aber", "yes": "ja ,"},
    persons=PERSONS,
    habits=(
        Phrase("smokes", "raucht"),
        Phrase("sings", "singt"),
        Phrase("draws", "zeichnet"),
        Phrase("works", "arbeitet"),
        Phrase("dances", "tanzt"),
        Phrase("studies", "lernt"),
        Phrase("travels", "reist"),
        Phrase("cooks", "kocht"),
    ),
    names=(
        Name("Chekhov", ("Tschechow", "Čechov")),
        Name("Pushkin", ("Puschkin", "Puškin")),
        Name("Zhukov", ("Schukow", "Žukov")),
        Name("Shishkin", ("Schischkin", "Šiškin")),
        Name("Chernov", ("Tschernow", "Černov")),
        Name("Sharov", ("Scharow", "Šarov")),
        Name("Zhdanov", ("Schdanow", "Ždanov")),
        Name("Mashkov", ("Maschkow", "Maškov")),
    ),
    crowds=(
        Phrase("the children", "die Kinder"),
        Phrase("the guests", "die Gäste"),
        Phrase("the tourists", "die Touristen"),
        Phrase("the sailors", "die Matrosen"),
        Phrase("the musicians", "die Musiker"),
        Phrase("the travellers", "die Reisenden"),
        Phrase("the farmers", "die Bauern"),
        Phrase("the shepherds", "die Hirten"),
        Phrase("the fishermen", "die Fischer"),
        Phrase("the climbers", "die Bergsteiger"),
        Phrase("the pilgrims", "die Pilger"),
    ),
    doings=DOINGS,
    weather=(
        (Phrase("it", "es"), Phrase("rained", "regnete")),
        (Phrase("it", "es"), Phrase("snowed", "schneite")),
        (Phrase("it", "es"), Phrase("hailed", "hagelte")),
        (Phrase("it", "es"), Phrase("thundered", "donnerte")),
    ),
    you=("du", "Sie"),
    addresses=(
        Address("know the way", ("kennst", "kennen"), "den Weg"),
        Address("hear the music", ("hörst", "hören"), "die Musik"),
        Address("see the harbour", ("siehst", "sehen"), "den Hafen"),
        Address("understand the question", ("verstehst", "verstehen"), "die Frage"),
        Address("read the map", ("liest", "lesen"), "die Karte"),
        Address("play the guitar", ("spielst", "spielen"), "die Gitarre"),
        Address("paint the ships", ("malst", "malen"), "die Schiffe"),
        Address("speak the language", ("sprichst", "sprechen"), "die Sprache"),
        Address("solve the puzzle", ("löst", "lösen"), "das Rätsel"),
        Address("sing the song", ("singst", "singen"), "das Lied"),
        Address("use the compass", ("benutzt", "benutzen"), "den Kompass"),
    ),
    vocatives=(
        (
            Phrase("buddy", "Kumpel"),
            Phrase("sweetie", "Liebling"),
            Phrase("kid", "Kleiner"),
            Phrase("pal", "alter Freund"),
        ),
        (
            Phrase("sir", "mein Herr"),
            Phrase("madam", "gnädige Frau"),
            Phrase("professor", "Herr Professor"),
            Phrase("captain", "Herr Kapitän"),
        ),
    ),
    questions=("wer", "wen", "wem"),
    government=GOVERNMENT,
    animates=ANIMATES,
    answers=(
        Phrase("probably", "wahrscheinlich"),
        Phrase("of course ,", "natürlich"),
        Phrase("perhaps", "vielleicht"),
    ),
)
