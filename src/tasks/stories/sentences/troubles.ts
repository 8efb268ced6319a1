// Writes and reads what happens before a friend helps: how a thing is used, what goes wrong, and
// how that feels.
import { sentences } from './sentence.ts'

const WHOLE = '!lost !broken !stuck !trouble !ended'
const SORROW = 'trouble !solved !failed !ended'

export const TROUBLES = {
  play: [
    ...sentences(
      `owns !friend ${WHOLE}`,
      '',
      `
      Every day {he} played with {them}.
      {He} took the {thing} everywhere.
      {Hero} showed the {thing} to everyone.
      {He} took {them} to {ground}.
      {He} took good care of the {look} {thing}.`,
    ),
    ...sentences(`owns !friend ${WHOLE}`, '', '{He} was very {happy} with {them}.', 'happy'),
  ],
  lose: sentences(
    `owns ${WHOLE}`,
    'lost trouble',
    `
    {Time}, the {thing} {was} gone.
    {Time}, {he} could not find the {thing}.
    {Time}, {hero} lost the {thing} at {ground}.
    {Time}, the wind carried the {thing} away.
    {Time}, {he} came home from {ground} without the {thing}.
    {Time}, somebody took the {thing}.
    {Time}, {hero} left the {thing} at {ground}.
    {Time}, the {thing} fell into the water and floated away.`,
  ),
  break: sentences(
    `owns !making ${WHOLE}`,
    'broken trouble',
    `
    {Time}, the {thing} broke.
    {Time}, {he} dropped the {thing}, and {it} broke.
    {Time}, {hero} fell on the {thing}, and {it} broke.
    {Time}, {he} pulled too hard, and the {thing} broke in two.
    {Time}, {he} played with the {thing} at {ground}, and {it} broke.
    {Time}, somebody stepped on the {thing}, and {it} broke.`,
  ),
  stick: sentences(
    `owns ${WHOLE}`,
    'stuck trouble',
    `
    {Time}, the {thing} got stuck {height}.
    {Time}, the wind blew the {thing} away, and {it} got stuck {height}.
    {Time}, {he} threw the {thing} too far, and {it} got stuck {height}.
    {Time}, a bird took the {thing} and dropped {them} {height}.
    {Time}, the {thing} flew through the air and got stuck {height}.`,
  ),
  want: sentences(
    'wishes !owns !trouble !ended',
    'trouble',
    `
    But {he} had no money.
    But {it} cost too much.
    But there was none in the whole village.
    But {his} family was poor.
    {He} looked at the {thing} in the shop every day, but {he} had no money.
    But the shop asked for more coins than {he} had.`,
  ),
  hide: sentences(
    'fears !trouble !ended',
    'trouble',
    `
    {Time}, {he} was so {afraid} that {he} could not move.
    {Time}, {he} hid under {his} bed and did not come out.
    {Time}, {he} stayed at home while the others played.
    {Time}, {he} felt so {afraid} that {he} ran away.
    {Time}, {he} would not come out of {his} room.
    {Time}, {he} heard a noise and was very {afraid}.`,
    'afraid',
  ),
  stray: sentences(
    'away !trouble !ended',
    'astray trouble',
    `
    But {he} walked too far and lost {his} way.
    Soon it grew dark, and {he} could not find the way home.
    Then fog came, and {he} did not know where {he} was.
    {He} turned left and right, and then {he} was lost.
    But {he} ran after a butterfly and lost {his} way.
    On the way back every path looked the same.`,
    'afraid',
  ),
  find: sentences(
    'friend !owns !trouble !ended',
    'owns',
    `
    {Time}, they found {a look thing} {spot}.
    {Time}, they saw {a look thing} {spot}.
    {Time}, there {was} {a look thing} {spot}.
    {Time}, they came upon {a look thing} near {ground}.
    {Time}, they dug up {a look thing} at {ground}.`,
  ),
  quarrel: sentences(
    `friend owns !making ${WHOLE}`,
    'quarrel trouble',
    `
    "The {thing} {is} mine!" shouted {hero}.
    "I saw {them} first!" shouted {friend}.
    Both of them wanted to keep {them}, and they began to fight.
    They pulled at the {thing} from both sides.
    {Hero} took {them} and did not let {friend} play.
    "Give {them} back!" shouted {friend}.`,
    'angry',
  ),
  drop: [
    ...sentences(
      `making ${WHOLE}`,
      'broken trouble',
      `
      But on the way {he} dropped the {thing}, and {it} broke.
      But {he} fell, and the {thing} broke.
      But it rained, and the {thing} came apart.
      But {he} sat down on the {thing}, and {it} broke.`,
    ),
    ...sentences(
      `making ${WHOLE}`,
      'lost trouble',
      `
      But on the way {he} lost the {thing}.
      But when {he} came to {ground}, the {thing} {was} gone.`,
    ),
  ],
  cry: [
    ...sentences(
      `${SORROW} !quarrel`,
      '',
      `
      {He} was very {sad}.
      {Hero} was {sad} and began to cry.
      {He} sat down and cried.
      {Hero} felt {sad} all day.
      {Hero} wanted to cry.
      "Oh no!" cried {hero}.`,
      'sad',
    ),
    ...sentences(`lost ${SORROW}`, '', '"My {thing} {is} gone!" cried {hero}.', 'sad'),
    ...sentences(`broken ${SORROW}`, '', '"My {thing} {is} broken!" cried {hero}.', 'sad'),
    ...sentences(`stuck ${SORROW}`, '', '"I cannot reach my {thing}!" cried {hero}.', 'sad'),
    ...sentences(`astray ${SORROW}`, '', '"Help!" called {hero}, but nobody came.', 'afraid'),
    ...sentences(
      `quarrel ${SORROW}`,
      '',
      `
      They were so {angry} that they did not speak.
      "You are not my friend any more!" shouted {friend}.
      {Hero} was {angry} and stamped {his} foot.`,
      'angry',
    ),
  ],
  seek: sentences(
    'lost !friend !solved !failed !ended',
    '',
    `
    {He} looked {spot}, but {it} {was} not there.
    {He} searched {spot} and {spot2}.
    {Hero} asked everyone at {ground}, but nobody had seen {them}.
    {He} even looked {spot}, but the {thing} {was} not there.`,
  ),
}
