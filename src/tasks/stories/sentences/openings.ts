// Writes and reads how a story begins: who it is about, and what it is about. These two sentences
// are the prompt.
import { sentences } from './sentence.ts'

export const OPENINGS = {
  who: sentences(
    '!hero',
    'hero',
    `
    Once there was {a trait kind} named {hero}.
    There once was {a trait kind} called {hero}.
    {Hero} was {a trait kind} who lived {home}.
    {A trait kind} named {hero} lived {home}.
    Long ago, {a trait kind} named {hero} lived {home}.
    Once upon a time, {a trait kind} called {hero} lived {home}.
    This is the story of {hero}, {a trait kind}.
    In a faraway land there lived {a trait kind} named {hero}.`,
  ),
  has: sentences(
    'hero !owns !wishes !fears !friend !away',
    'owns',
    `
    {He} had {a look thing}.
    {Hero} had {a look thing}.
    {Hero} had {a look thing} that {he} loved.
    {His} grandmother had given {him} {a look thing}.
    {He} got {a look thing} for {his} birthday.
    {He} never went out without {his} {look} {thing}.
    {He} owned {a look thing}.
    {He} found {a look thing} in an old box.`,
  ),
  wishes: sentences(
    'hero !owns !wishes !fears !friend !away',
    'wishes',
    `
    {He} wanted {a look thing} more than anything.
    {Hero} dreamed of {a look thing}.
    Every night {he} wished for {a look thing}.
    All {he} wanted was {a look thing}.
    {He} had seen {a look thing} in the shop window.`,
  ),
  fears: sentences(
    'hero !owns !wishes !fears !friend !away',
    'fears',
    `
    {He} was afraid of {fear}.
    {Hero} had always been afraid of {fear}.
    Nothing scared {him} more than {fear}.
    {He} did not like {fear} at all.
    {He} often dreamed of {fear}.`,
  ),
  away: sentences(
    'hero !owns !wishes !fears !friend !away',
    'away',
    `
    {Time}, {he} went to {ground} alone.
    {Time}, {hero} walked to {ground} to play.
    {Time}, {he} set out to see {ground}.
    {Time}, {he} followed the path to {ground}.
    {Time}, {he} took the long way to {ground}.`,
  ),
  friendship: sentences(
    'hero !owns !wishes !fears !friend !away',
    'friend told',
    `
    {His} best friend was {a friend_kind} named {friend}.
    {He} had a friend, {a friend_kind} named {friend}.
    {He} played every day with {friend}, {a friend_kind}.
    {He} and {friend}, {a friend_kind}, were best friends.`,
  ),
  gift: sentences(
    'hero !owns !wishes !fears !friend !away',
    'friend told owns making',
    `
    {He} made {a look thing} for {his} friend {friend}, {a friend_kind}.
    {He} wanted to give {his} friend {friend}, {a friend_kind}, {a look thing}.
    {He} made {a look thing} as a gift for {friend}, {a friend_kind}.`,
  ),
}
