"""Russian forms, written out by hand from a grammar's tables and not taken from the package.

Sources of the paradigms: А. А. Зализняк, Грамматический словарь русского языка (declension
types); for agreement, Русская грамматика (1980). One entry a line, columns as the heading says.
"""

# English | class | gender | nominative | accusative
NOUNS = """
cheese | food | m | сыр | сыр
soup | food | m | суп | суп
salad | food | m | салат | салат
cake | food | m | торт | торт
bread | food | m | хлеб | хлеб
fish | food | f | рыба | рыбу
pear | food | f | груша | грушу
porridge | food | f | каша | кашу
sausage | food | f | колбаса | колбасу
cabbage | food | f | капуста | капусту
meat | food | n | мясо | мясо
apple | food | n | яблоко | яблоко
jam | food | n | варенье | варенье
biscuit | food | n | печенье | печенье
butter | food | n | масло | масло
table | furniture | m | стол | стол
chair | furniture | m | стул | стул
wardrobe | furniture | m | шкаф | шкаф
chest | furniture | m | сундук | сундук
sofa | furniture | m | диван | диван
bench | furniture | f | скамейка | скамейку
shelf | furniture | f | полка | полку
lamp | furniture | f | лампа | лампу
door | furniture | f | дверь | дверь
bed | furniture | f | кровать | кровать
armchair | furniture | n | кресло | кресло
mirror | furniture | n | зеркало | зеркало
window | furniture | n | окно | окно
piano | furniture | n | пианино | пианино
bureau | furniture | n | бюро | бюро
film | event | m | фильм | фильм
concert | event | m | концерт | концерт
match | event | m | матч | матч
contest | event | m | конкурс | конкурс
festival | event | m | фестиваль | фестиваль
lecture | event | f | лекция | лекцию
exhibition | event | f | выставка | выставку
play | event | f | пьеса | пьесу
opera | event | f | опера | оперу
excursion | event | f | экскурсия | экскурсию
performance | event | n | представление | представление
meeting | event | n | собрание | собрание
competition | event | n | соревнование | соревнование
celebration | event | n | торжество | торжество
show | event | n | шоу | шоу
"""

# English | class | masculine | feminine | neuter
PREDICATES = """
tasty | food | вкусный | вкусная | вкусное
fresh | food | свежий | свежая | свежее
edible | food | съедобный | съедобная | съедобное
nutritious | food | питательный | питательная | питательное
antique | furniture | старинный | старинная | старинное
dusty | furniture | пыльный | пыльная | пыльное
broken | furniture | сломан | сломана | сломано
scratched | furniture | поцарапан | поцарапана | поцарапано
boring | event | скучный | скучная | скучное
exciting | event | увлекательный | увлекательная | увлекательное
funny | event | смешной | смешная | смешное
unforgettable | event | незабываемый | незабываемая | незабываемое
"""

# English past | он | она | оно | они
PAST = """
bought | купил | купила | купило | купили
ate | съел | съела | съело | съели
ordered | заказал | заказала | заказало | заказали
sold | продал | продала | продало | продали
cleaned | почистил | почистила | почистило | почистили
examined | осмотрел | осмотрела | осмотрело | осмотрели
discussed | обсудил | обсудила | обсудило | обсудили
praised | похвалил | похвалила | похвалило | похвалили
criticised | раскритиковал | раскритиковала | раскритиковало | раскритиковали
laughed | смеялся | смеялась | смеялось | смеялись
slept | спал | спала | спало | спали
waited | ждал | ждала | ждало | ждали
sang | пел | пела | пело | пели
danced | танцевал | танцевала | танцевало | танцевали
shouted | кричал | кричала | кричало | кричали
worked | работал | работала | работало | работали
argued | спорил | спорила | спорило | спорили
"""

# English infinitive | English past | case that it governs | он | она | оно | они
GOVERNMENT = """
see | saw | acc | видел | видела | видело | видели
meet | met | acc | встретил | встретила | встретило | встретили
invite | invited | acc | пригласил | пригласила | пригласило | пригласили
help | helped | dat | помог | помогла | помогло | помогли
answer | answered | dat | ответил | ответила | ответило | ответили
believe | believed | dat | поверил | поверила | поверило | поверили
admire | admired | ins | восхищался | восхищалась | восхищалось | восхищались
command | commanded | ins | командовал | командовала | командовало | командовали
supervise | supervised | ins | руководил | руководила | руководило | руководили
"""
CASES = ("nom", "acc", "dat", "ins")

# English | nominative | accusative (of people: the genitive of men) | dative | instrumental
ANIMATES = """
teacher | учитель | учителя | учителю | учителем
doctor | врач | врача | врачу | врачом
nurse | медсестра | медсестру | медсестре | медсестрой
artist | художник | художника | художнику | художником
student | студент | студента | студенту | студентом
guard | охранник | охранника | охраннику | охранником
ballerina | балерина | балерину | балерине | балериной
"""

# English | gender | nominative | accusative
PERSONS = """
Ivan | m | Иван | Ивана
Oleg | m | Олег | Олега
Pavel | m | Павел | Павла
Anton | m | Антон | Антона
Anna | f | Анна | Анну
Vera | f | Вера | Веру
Olga | f | Ольга | Ольгу
Nina | f | Нина | Нину
"""

# English | third person singular of the present
HABITS = """
smokes | курит
sings | поёт
draws | рисует
works | работает
dances | танцует
studies | учится
travels | путешествует
cooks | готовит
"""

# English | after ты | after вы | what follows the verb
ADDRESSES = """
know the way | знаешь | знаете | дорогу
hear the music | слышишь | слышите | музыку
see the harbour | видишь | видите | гавань
understand the question | понимаешь | понимаете | вопрос
remember the song | помнишь | помните | песню
read the map | читаешь | читаете | карту
play the guitar | играешь | играете | на гитаре
paint the ships | красишь | красите | корабли
speak the language | говоришь | говорите | на этом языке
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

# man in English | woman in English | man | woman
ROLES = """
waiter | waitress | официант | официантка
actor | actress | актёр | актриса
steward | stewardess | стюард | стюардесса
prince | princess | принц | принцесса
monk | nun | монах | монахиня
widower | widow | вдовец | вдова
king | queen | король | королева
host | hostess | хозяин | хозяйка
"""

# English | said by a man | said by a woman | what follows the verb
DEEDS = """
lost the key | потерял | потеряла | ключ
forgot the address | забыл | забыла | адрес
missed the train | опоздал | опоздала | на поезд
opened the box | открыл | открыла | коробку
broke the cup | разбил | разбила | чашку
found the money | нашёл | нашла | деньги
woke the neighbours | разбудил | разбудила | соседей
"""

# English | one rendering | the other
NAMES = """
Watson | Ватсон | Уотсон
Wilson | Вильсон | Уилсон
Hudson | Гудзон | Хадсон
Huxley | Гексли | Хаксли
Hamilton | Гамильтон | Хэмилтон
Walter | Вальтер | Уолтер
William | Вильям | Уильям
Henry | Генри | Хенри
"""

PRONOUNS = ("он", "она", "оно")
COPULA = ("был", "была", "было")
ORDINALS = (("первый", "первая", "первое"), ("второй", "вторая", "второе"))
YOU = ("ты", "вы")
QUESTIONS = ("кто", "кого", "кому", "кем")
