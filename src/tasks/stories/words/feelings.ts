// Lists how characters feel and behave, and what they do together.
import { listed } from './listed.ts'

/** Words for feelings, by mood. */
export const FEELINGS = {
  happy: listed(
    'happy glad proud cheerful merry joyful delighted thrilled overjoyed pleased excited grateful',
  ),
  sad: listed(
    'sad unhappy lonely upset gloomy miserable heartbroken sorry tearful glum downcast hopeless',
  ),
  afraid: listed(
    'afraid scared frightened nervous worried terrified anxious uneasy alarmed timid shaky fearful',
  ),
  angry: listed(
    'angry cross furious mad annoyed grumpy irritated bitter jealous sulky outraged stormy',
  ),
  calm: listed(
    'calm content quiet peaceful relieved restful easy settled hopeful thoughtful gentle still',
  ),
} as const

export type Mood = keyof typeof FEELINGS

/** What two play together. */
export const GAMES = listed(`
  hide and seek, tag, catch, games, cards, football, leapfrog, hopscotch, pirates, marbles, chess, ball, music, house, school, knights, explorers, detectives, checkers, dominoes`)

/** What a character fears. */
export const FEARS = listed(`
  the dark, thunder, deep water, the storm, high places, loud noises, the wind, spiders, shadows, strangers, the forest at night, the big waves, lightning, ghosts, fire, the cellar`)

/** When something happens. */
export const TIMES = listed(`
  One day, One morning, One evening, One afternoon, One sunny day, One rainy day, One night, One windy day, One cold morning, One summer day,
  One winter day, One spring morning, One autumn day, One foggy morning, One snowy day, One quiet evening, One hot afternoon, One cloudy day, One stormy night, One Sunday`)

/** How something is done. */
export const MANNERS = listed(`
  slowly quickly quietly carefully gently loudly softly bravely kindly happily sadly proudly politely eagerly patiently suddenly gladly
  calmly cheerfully warmly shyly boldly firmly nervously angrily gracefully clumsily secretly wisely wildly`)
