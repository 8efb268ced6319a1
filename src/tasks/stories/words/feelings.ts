// Lists how characters feel and behave, and what they do together.
import { listed } from './listed.ts'

/** Words for feelings, by mood. */
export const FEELINGS = {
  happy: listed(`
    happy glad proud cheerful merry joyful delighted thrilled overjoyed pleased excited grateful amused blissful bubbly carefree
    charmed cheery chirpy content ecstatic elated elevated enchanted enthusiastic euphoric exhilarated festive flattered fortunate fulfilled gleeful
    hopeful inspired jolly jovial jubilant lucky perky radiant relieved satisfied sunny tickled triumphant upbeat`),
  sad: listed(`
    sad unhappy lonely upset gloomy miserable heartbroken sorry tearful glum downcast hopeless bleak blue crushed dejected
    depressed desolate despondent disappointed discouraged dismal dismayed dispirited distressed dreary forlorn forsaken grieved helpless homesick hurt
    low mournful pained regretful sombre sorrowful sullen troubled unlucky weepy woeful wretched`),
  afraid: listed(`
    afraid scared frightened nervous worried terrified anxious uneasy alarmed timid shaky fearful agitated apprehensive bewildered concerned
    confused cowardly distraught dizzy edgy fretful frantic hesitant horrified intimidated jittery jumpy lost panicky petrified rattled
    shocked shy spooked startled stunned tense tormented unsettled unsure wary weak`),
  angry: listed(`
    angry cross furious mad annoyed grumpy irritated bitter jealous sulky outraged stormy aggrieved agitated bothered cantankerous
    crabby cranky defiant disgusted displeased enraged envious exasperated fierce fiery frustrated fuming grouchy heated hostile huffy
    incensed indignant insulted irate livid moody offended peeved petulant provoked ratty resentful spiteful testy touchy vexed
    wild`),
  calm: listed(`
    calm content quiet peaceful relieved restful easy settled hopeful thoughtful gentle still balanced collected comforted composed
    consoled cosy drowsy dreamy mellow mild patient placid pensive reassured relaxed resigned safe serene sleepy snug
    sober soothed steady subdued tired tranquil untroubled unhurried unworried warm wise`),
} as const

export type Mood = keyof typeof FEELINGS

/** What two play together. */
export const GAMES = listed(`
  hide and seek, tag, catch, games, cards, football, leapfrog, hopscotch, pirates, marbles, chess, ball, music, house, school, knights, explorers, detectives, checkers, dominoes,
skittles, bowls, tennis, cricket, rugby, hockey, basketball, badminton, croquet, golf, polo, snooker, billiards, darts, draughts, backgammon,
  solitaire, bingo, charades, hangman, noughts and crosses, snakes and ladders, musical chairs, tug of war, follow the leader, doctors, shopkeepers, spies, astronauts, cowboys,
  robbers, mermaids, dragons, wizards, pilots, sailors, firefighters, vets, statues, rounders, baseball, netball, lacrosse, conkers, jacks, snap, whist, rummy, patience, riddles`)

/** What a character fears. */
export const FEARS = listed(`
  the dark, thunder, deep water, the storm, high places, loud noises, the wind, spiders, shadows, strangers, the forest at night, the big waves, lightning, ghosts, fire, the cellar,
snakes, dogs, bees, wasps, bats, rats, mice, wolves, bears, crocodiles, sharks, monsters, witches, dragons, clowns, crowds,
  small spaces, empty rooms, the attic, the dentist, needles, doctors, exams, heights, bridges, tunnels, lifts, trains, aeroplanes, boats, the sea, rivers,
  earthquakes, floods, avalanches, volcanoes, hail, blizzards, fog, darkness, silence, echoes, whispers, creaking doors, masks, puppets, mirrors, scarecrows, graveyards, ruins,
  failing, falling, drowning, losing, being alone, being laughed at, being late, getting lost, growing up, saying no, new places, change, goodbyes, nightmares, the moon`)

/** When something happens. */
export const TIMES = listed(`
  One day, One morning, One evening, One afternoon, One sunny day, One rainy day, One night, One windy day, One cold morning, One summer day,
  One winter day, One spring morning, One autumn day, One foggy morning, One snowy day, One quiet evening, One hot afternoon, One cloudy day, One stormy night, One Sunday,
One frosty morning, One Monday, One Tuesday, One Wednesday, One Thursday, One Friday, One Saturday, One bright morning, One dark night, One warm evening,
  One misty day, One holiday, One fine day, One dull afternoon, One chilly night, One busy morning, One lazy afternoon, One golden evening, One moonlit night, One starry night,
  One breezy morning, One muddy day, One rainy weekend, One thundery evening, One peaceful morning, One winter night, One May morning, One day in June, One day in July, One August afternoon,
  One September day, One October evening, One November night, One day in December, One week later, One midnight, One dreary morning, One gusty afternoon, One drizzly day, One glorious morning`)

/** How something is done. */
export const MANNERS = listed(`
  slowly quickly quietly carefully gently loudly softly bravely kindly happily sadly proudly politely eagerly patiently suddenly gladly
  calmly cheerfully warmly shyly boldly firmly nervously angrily gracefully clumsily secretly wisely wildly
anxiously awkwardly bashfully briskly cautiously cleverly coldly comfortably confidently courageously curiously daintily delightedly diligently dreamily dutifully earnestly easily elegantly energetically
  enthusiastically excitedly faithfully fearlessly feverishly fiercely fondly foolishly frantically freely generously gingerly gleefully gloomily gratefully greedily gruffly grumpily hastily heartily
  helpfully helplessly honestly hopefully humbly hungrily hurriedly impatiently innocently intently jealously joyfully joyously keenly lazily lightly lovingly loyally madly meekly merrily
  mischievously mysteriously neatly nimbly obediently painfully peacefully playfully promptly quaintly rapidly reluctantly restlessly roughly rudely seriously sharply sheepishly silently sleepily
  smoothly sneakily solemnly steadily sternly stubbornly swiftly sweetly tenderly thankfully thoughtfully tightly timidly tirelessly unhappily urgently vaguely warily wearily wistfully`)
