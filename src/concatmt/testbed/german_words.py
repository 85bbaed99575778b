"""English-German: the words that inflect; articles stand with their nouns."""

from concatmt.testbed.words import Animate, Government, Noun, Person, Predicate, Verb


def _masculine(source: str, noun: str) -> Noun:
    return Noun(source, f"der {noun}", f"den {noun}")


def _feminine(source: str, noun: str) -> Noun:
    return Noun(source, f"die {noun}", f"die {noun}")


def _neuter(source: str, noun: str) -> Noun:
    return Noun(source, f"das {noun}", f"das {noun}")


def _past(source: str, singular: str, plural: str) -> Verb:
    return Verb(source, (singular, singular, singular, plural))


def _governing(infinitive: str, source: str, singular: str, plural: str) -> Government:
    return Government(infinitive, source, (singular, singular, singular, plural))


def _man(source: str, nominative: str, oblique: str) -> Animate:
    return Animate(source, (f"der {nominative}", f"den {oblique}", f"dem {oblique}"))


def _predicate(source: str, target: str) -> Predicate:
    return Predicate(source, (target, target, target))


def _person(name: str, gender: int) -> Person:
    return Person(name, gender, name, name)


NOUNS = {
    "food": (
        (
            _masculine("cheese", "Käse"),
            _masculine("salad", "Salat"),
            _masculine("fish", "Fisch"),
            _masculine("apple", "Apfel"),
            _masculine("cake", "Kuchen"),
            _masculine("pudding", "Pudding"),
            _masculine("yoghurt", "Joghurt"),
        ),
        (
            _feminine("soup", "Suppe"),
            _feminine("pear", "Birne"),
            _feminine("sausage", "Wurst"),
            _feminine("melon", "Melone"),
            _feminine("sauce", "Soße"),
            _feminine("butter", "Butter"),
            _feminine("cherry", "Kirsche"),
        ),
        (
            _neuter("bread", "Brot"),
            _neuter("meat", "Fleisch"),
            _neuter("egg", "Ei"),
            _neuter("chicken", "Hähnchen"),
            _neuter("steak", "Steak"),
            _neuter("omelette", "Omelett"),
            _neuter("sandwich", "Sandwich"),
        ),
    ),
    "furniture": (
        (
            _masculine("table", "Tisch"),
            _masculine("chair", "Stuhl"),
            _masculine("wardrobe", "Schrank"),
            _masculine("carpet", "Teppich"),
            _masculine("mirror", "Spiegel"),
            _masculine("armchair", "Sessel"),
            _masculine("stove", "Ofen"),
        ),
        (
            _feminine("lamp", "Lampe"),
            _feminine("door", "Tür"),
            _feminine("chest", "Truhe"),
            _feminine("bench", "Bank"),
            _feminine("clock", "Uhr"),
            _feminine("staircase", "Treppe"),
            _feminine("ladder", "Leiter"),
        ),
        (
            _neuter("shelf", "Regal"),
            _neuter("bed", "Bett"),
            _neuter("sofa", "Sofa"),
            _neuter("window", "Fenster"),
            _neuter("piano", "Klavier"),
            _neuter("desk", "Pult"),
            _neuter("bookcase", "Bücherregal"),
        ),
    ),
    "event": (
        (
            _masculine("film", "Film"),
            _masculine("lecture", "Vortrag"),
            _masculine("contest", "Wettbewerb"),
            _masculine("course", "Kurs"),
            _masculine("trip", "Ausflug"),
            _masculine("circus", "Zirkus"),
            _masculine("congress", "Kongress"),
        ),
        (
            _feminine("exhibition", "Ausstellung"),
            _feminine("performance", "Aufführung"),
            _feminine("meeting", "Sitzung"),
            _feminine("opera", "Oper"),
            _feminine("celebration", "Feier"),
            _feminine("debate", "Debatte"),
            _feminine("auction", "Auktion"),
        ),
        (
            _neuter("concert", "Konzert"),
            _neuter("match", "Spiel"),
            _neuter("play", "Theaterstück"),
            _neuter("festival", "Festival"),
            _neuter("seminar", "Seminar"),
            _neuter("interview", "Interview"),
            _neuter("tournament", "Turnier"),
        ),
    ),
}
VERBS = {
    "food": (
        _past("bought", "kaufte", "kauften"),
        _past("ate", "aß", "aßen"),
        _past("ordered", "bestellte", "bestellten"),
        _past("tasted", "probierte", "probierten"),
    ),
    "furniture": (
        _past("sold", "verkaufte", "verkauften"),
        _past("cleaned", "reinigte", "reinigten"),
        _past("examined", "untersuchte", "untersuchten"),
        _past("photographed", "fotografierte", "fotografierten"),
    ),
    "event": (
        _past("praised", "lobte", "lobten"),
        _past("discussed", "besprach", "besprachen"),
        _past("mentioned", "erwähnte", "erwähnten"),
        _past("criticised", "kritisierte", "kritisierten"),
    ),
}
PREDICATES = {
    "food": (
        _predicate("tasty", "lecker"),
        _predicate("fresh", "frisch"),
        _predicate("edible", "essbar"),
        _predicate("nutritious", "nahrhaft"),
    ),
    "furniture": (
        _predicate("antique", "antik"),
        _predicate("dusty", "staubig"),
        _predicate("broken", "kaputt"),
        _predicate("scratched", "zerkratzt"),
    ),
    "event": (
        _predicate("boring", "langweilig"),
        _predicate("exciting", "spannend"),
        _predicate("unforgettable", "unvergesslich"),
        _predicate("funny", "lustig"),
    ),
}
DOINGS = (
    _past("laughed", "lachte", "lachten"),
    _past("slept", "schlief", "schliefen"),
    _past("waited", "wartete", "warteten"),
    _past("sang", "sang", "sangen"),
    _past("danced", "tanzte", "tanzten"),
    _past("shouted", "schrie", "schrien"),
    _past("worked", "arbeitete", "arbeiteten"),
    _past("argued", "stritt", "stritten"),
    _past("prayed", "betete", "beteten"),
    _past("cried", "weinte", "weinten"),
)
GOVERNMENT = (
    (  # accusative
        _governing("see", "saw", "sah", "sahen"),
        _governing("meet", "met", "traf", "trafen"),
        _governing("visit", "visited", "besuchte", "besuchten"),
        _governing("greet", "greeted", "grüßte", "grüßten"),
    ),
    (  # dative
        _governing("help", "helped", "half", "halfen"),
        _governing("answer", "answered", "antwortete", "antworteten"),
        _governing("believe", "believed", "glaubte", "glaubten"),
        _governing("thank", "thanked", "dankte", "dankten"),
    ),
)
ANIMATES = (
    _man("teacher", "Lehrer", "Lehrer"),
    _man("student", "Student", "Studenten"),
    _man("doctor", "Arzt", "Arzt"),
    _man("soldier", "Soldat", "Soldaten"),
    _man("driver", "Fahrer", "Fahrer"),
    _man("neighbour", "Nachbar", "Nachbarn"),
    _man("guard", "Wächter", "Wächter"),
    _man("boy", "Junge", "Jungen"),
    _man("baker", "Bäcker", "Bäcker"),
    _man("lawyer", "Anwalt", "Anwalt"),
    _man("poet", "Dichter", "Dichter"),
    _man("pilot", "Pilot", "Piloten"),
    _man("hero", "Held", "Helden"),
)
PERSONS = (
    _person("Paul", 0),
    _person("Anna", 1),
    _person("Otto", 0),
    _person("Eva", 1),
    _person("Karl", 0),
    _person("Lena", 1),
    _person("Max", 0),
    _person("Maria", 1),
    _person("Felix", 0),
    _person("Klara", 1),
    _person("Jonas", 0),
    _person("Emma", 1),
)
