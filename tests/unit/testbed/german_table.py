"""German forms, written out by hand from a grammar's tables and not taken from the package.

Sources of the paradigms: Duden, Die Grammatik (article and noun declension, weak masculines,
preterite) and Duden, Das große Wörterbuch (genders). One entry a line, columns as headed.
"""

# English | class | gender | nominative | accusative
NOUNS = """
cheese | food | m | der Käse | den Käse
salad | food | m | der Salat | den Salat
fish | food | m | der Fisch | den Fisch
apple | food | m | der Apfel | den Apfel
cake | food | m | der Kuchen | den Kuchen
pudding | food | m | der Pudding | den Pudding
yoghurt | food | m | der Joghurt | den Joghurt
soup | food | f | die Suppe | die Suppe
pear | food | f | die Birne | die Birne
sausage | food | f | die Wurst | die Wurst
melon | food | f | die Melone | die Melone
sauce | food | f | die Soße | die Soße
butter | food | f | die Butter | die Butter
cherry | food | f | die Kirsche | die Kirsche
bread | food | n | das Brot | das Brot
meat | food | n | das Fleisch | das Fleisch
egg | food | n | das Ei | das Ei
chicken | food | n | das Hähnchen | das Hähnchen
steak | food | n | das Steak | das Steak
omelette | food | n | das Omelett | das Omelett
sandwich | food | n | das Sandwich | das Sandwich
table | furniture | m | der Tisch | den Tisch
chair | furniture | m | der Stuhl | den Stuhl
wardrobe | furniture | m | der Schrank | den Schrank
carpet | furniture | m | der Teppich | den Teppich
mirror | furniture | m | der Spiegel | den Spiegel
armchair | furniture | m | der Sessel | den Sessel
stove | furniture | m | der Ofen | den Ofen
lamp | furniture | f | die Lampe | die Lampe
door | furniture | f | die Tür | die Tür
chest | furniture | f | die Truhe | die Truhe
bench | furniture | f | die Bank | die Bank
clock | furniture | f | die Uhr | die Uhr
staircase | furniture | f | die Treppe | die Treppe
ladder | furniture | f | die Leiter | die Leiter
shelf | furniture | n | das Regal | das Regal
bed | furniture | n | das Bett | das Bett
sofa | furniture | n | das Sofa | das Sofa
window | furniture | n | das Fenster | das Fenster
piano | furniture | n | das Klavier | das Klavier
desk | furniture | n | das Pult | das Pult
bookcase | furniture | n | das Bücherregal | das Bücherregal
film | event | m | der Film | den Film
lecture | event | m | der Vortrag | den Vortrag
contest | event | m | der Wettbewerb | den Wettbewerb
course | event | m | der Kurs | den Kurs
trip | event | m | der Ausflug | den Ausflug
circus | event | m | der Zirkus | den Zirkus
congress | event | m | der Kongress | den Kongress
exhibition | event | f | die Ausstellung | die Ausstellung
performance | event | f | die Aufführung | die Aufführung
meeting | event | f | die Sitzung | die Sitzung
opera | event | f | die Oper | die Oper
celebration | event | f | die Feier | die Feier
debate | event | f | die Debatte | die Debatte
auction | event | f | die Auktion | die Auktion
concert | event | n | das Konzert | das Konzert
match | event | n | das Spiel | das Spiel
play | event | n | das Theaterstück | das Theaterstück
festival | event | n | das Festival | das Festival
seminar | event | n | das Seminar | das Seminar
interview | event | n | das Interview | das Interview
tournament | event | n | das Turnier | das Turnier
"""

# English | class | German: predicative adjectives do not inflect
PREDICATES = """
tasty | food | lecker | lecker | lecker
fresh | food | frisch | frisch | frisch
edible | food | essbar | essbar | essbar
nutritious | food | nahrhaft | nahrhaft | nahrhaft
antique | furniture | antik | antik | antik
dusty | furniture | staubig | staubig | staubig
broken | furniture | kaputt | kaputt | kaputt
scratched | furniture | zerkratzt | zerkratzt | zerkratzt
boring | event | langweilig | langweilig | langweilig
exciting | event | spannend | spannend | spannend
unforgettable | event | unvergesslich | unvergesslich | unvergesslich
funny | event | lustig | lustig | lustig
"""

# English past | er | sie (she) | es | sie (they)
PAST = """
bought | kaufte | kaufte | kaufte | kauften
ate | aß | aß | aß | aßen
ordered | bestellte | bestellte | bestellte | bestellten
tasted | probierte | probierte | probierte | probierten
sold | verkaufte | verkaufte | verkaufte | verkauften
cleaned | reinigte | reinigte | reinigte | reinigten
examined | untersuchte | untersuchte | untersuchte | untersuchten
photographed | fotografierte | fotografierte | fotografierte | fotografierten
praised | lobte | lobte | lobte | lobten
discussed | besprach | besprach | besprach | besprachen
mentioned | erwähnte | erwähnte | erwähnte | erwähnten
criticised | kritisierte | kritisierte | kritisierte | kritisierten
laughed | lachte | lachte | lachte | lachten
slept | schlief | schlief | schlief | schliefen
waited | wartete | wartete | wartete | warteten
sang | sang | sang | sang | sangen
danced | tanzte | tanzte | tanzte | tanzten
shouted | schrie | schrie | schrie | schrien
worked | arbeitete | arbeitete | arbeitete | arbeiteten
argued | stritt | stritt | stritt | stritten
prayed | betete | betete | betete | beteten
cried | weinte | weinte | weinte | weinten
"""

# English infinitive | English past | case that it governs | er | sie (she) | es | sie (they)
GOVERNMENT = """
see | saw | acc | sah | sah | sah | sahen
meet | met | acc | traf | traf | traf | trafen
visit | visited | acc | besuchte | besuchte | besuchte | besuchten
greet | greeted | acc | grüßte | grüßte | grüßte | grüßten
help | helped | dat | half | half | half | halfen
answer | answered | dat | antwortete | antwortete | antwortete | antworteten
believe | believed | dat | glaubte | glaubte | glaubte | glaubten
thank | thanked | dat | dankte | dankte | dankte | dankten
"""
CASES = ("nom", "acc", "dat")

# English | nominative | accusative | dative; weak: Student, Soldat, Nachbar, Junge, Pilot, Held
ANIMATES = """
teacher | der Lehrer | den Lehrer | dem Lehrer
student | der Student | den Studenten | dem Studenten
doctor | der Arzt | den Arzt | dem Arzt
soldier | der Soldat | den Soldaten | dem Soldaten
driver | der Fahrer | den Fahrer | dem Fahrer
neighbour | der Nachbar | den Nachbarn | dem Nachbarn
guard | der Wächter | den Wächter | dem Wächter
boy | der Junge | den Jungen | dem Jungen
baker | der Bäcker | den Bäcker | dem Bäcker
lawyer | der Anwalt | den Anwalt | dem Anwalt
poet | der Dichter | den Dichter | dem Dichter
pilot | der Pilot | den Piloten | dem Piloten
hero | der Held | den Helden | dem Helden
"""

# English | gender | nominative | accusative
PERSONS = """
Paul | m | Paul | Paul
Otto | m | Otto | Otto
Karl | m | Karl | Karl
Max | m | Max | Max
Felix | m | Felix | Felix
Jonas | m | Jonas | Jonas
Anna | f | Anna | Anna
Eva | f | Eva | Eva
Lena | f | Lena | Lena
Maria | f | Maria | Maria
Klara | f | Klara | Klara
Emma | f | Emma | Emma
"""

# English | third person singular of the present
HABITS = """
smokes | raucht
sings | singt
draws | zeichnet
works | arbeitet
dances | tanzt
studies | lernt
travels | reist
cooks | kocht
"""

# English | after du | after Sie | the object
ADDRESSES = """
know the way | kennst | kennen | den Weg
hear the music | hörst | hören | die Musik
see the harbour | siehst | sehen | den Hafen
understand the question | verstehst | verstehen | die Frage
read the map | liest | lesen | die Karte
play the guitar | spielst | spielen | die Gitarre
paint the ships | malst | malen | die Schiffe
speak the language | sprichst | sprechen | die Sprache
solve the puzzle | löst | lösen | das Rätsel
sing the song | singst | singen | das Lied
use the compass | benutzt | benutzen | den Kompass
"""
# English | form of address
VOCATIVES = """
buddy | familiar
sweetie | familiar
kid | familiar
pal | familiar
sir | polite
madam | polite
professor | polite
captain | polite
"""
ROLES = ""
DEEDS = ""

# English | Duden's transcription of the Russian name | ISO 9 transliteration
NAMES = """
Chekhov | Tschechow | Čechov
Pushkin | Puschkin | Puškin
Zhukov | Schukow | Žukov
Shishkin | Schischkin | Šiškin
Chernov | Tschernow | Černov
Sharov | Scharow | Šarov
Zhdanov | Schdanow | Ždanov
Mashkov | Maschkow | Maškov
"""

PRONOUNS = ("er", "sie", "es")
COPULA = ("war", "war", "war")
ORDINALS = (
    ("der erste", "die erste", "das erste"),
    ("der zweite", "die zweite", "das zweite"),
)
YOU = ("du", "Sie")
QUESTIONS = ("wer", "wen", "wem")
