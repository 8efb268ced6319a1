// Writes and reads how a story comes out, and how it ends.
import { sentences } from './sentence.ts'

const TRIED = 'trying told !solved !failed !ended'

export const ENDINGS = {
  solve: [
    ...sentences(
      `lost ${TRIED}`,
      'solved !lost',
      `
      At last they found the {thing} {spot}.
      Suddenly {friend} saw the {thing} {spot}.
      "I found {them}!" cried {friend}.
      And there {was} the {thing}, {spot}!`,
    ),
    ...sentences(
      `broken ${TRIED}`,
      'solved !broken',
      `
      Soon the {thing} {was} as good as new.
      At last the {thing} {was} whole again.
      In the end the {thing} looked even better than before.`,
    ),
    ...sentences(
      `stuck ${TRIED}`,
      'solved !stuck',
      `
      At last the {thing} came free.
      Soon {hero} had the {thing} back.
      "Here {it} {is}!" cried {friend}.`,
    ),
    ...sentences(
      `wishes ${TRIED}`,
      'solved owns !wishes',
      `
      At last {he} could buy the {look} {thing}.
      Then {friend} gave {him} {a look thing}.
      On {his} birthday {he} got {a look thing}.`,
    ),
    ...sentences(
      `fears ${TRIED}`,
      'solved !fears',
      `
      And then {he} was not afraid of {fear} any more.
      Suddenly {fear} did not seem so bad.
      "I did it!" cried {hero}.`,
    ),
    ...sentences(
      `astray ${TRIED}`,
      'solved !astray',
      `
      At last they saw {his} house.
      Soon {hero} was home again.
      And there was the way home!`,
    ),
    ...sentences(
      `quarrel ${TRIED}`,
      'solved !quarrel',
      `
      So they took turns with the {thing}.
      From then on the {thing} belonged to both of them.
      They laughed and played with {them} together.`,
    ),
  ],
  fail: [
    ...sentences(
      `lost ${TRIED}`,
      'failed',
      `
      But they did not find {them}.
      But the {thing} {was} gone for good.
      Nobody ever saw the {thing} again.`,
    ),
    ...sentences(
      `broken ${TRIED}`,
      'failed',
      `
      But nobody could fix the {thing}.
      But {it} broke again.`,
    ),
    ...sentences(
      `stuck ${TRIED}`,
      'failed',
      `
      But {it} did not move.
      But the {thing} stayed where {it} {was}.`,
    ),
    ...sentences(
      `wishes ${TRIED}`,
      'failed',
      `
      But somebody else bought the {thing}.
      But it was not enough for {a look thing}.`,
    ),
    ...sentences(
      `fears ${TRIED}`,
      'failed',
      `
      But {he} was still afraid of {fear}.
      But then {he} ran home as fast as {he} could.`,
    ),
    ...sentences(
      `astray ${TRIED}`,
      'failed',
      `
      But the path ended, and they had to sleep outside.
      But they only came back to {ground}.`,
    ),
    ...sentences(
      `quarrel ${TRIED}`,
      'failed',
      `
      But {friend} walked away.
      But they did not play together again.`,
    ),
  ],
  joy: sentences(
    'solved !ended',
    '',
    `
    {Hero} was very {happy}.
    {Hero} was so {happy} that {he} jumped up and down.
    {Hero} laughed and hugged {friend}.
    They were both very {happy}.
    "Thank you, {friend}!" said {hero}.
    "You are a true friend," said {hero} {manner}.
    They shared {a food}.
    {Hero} gave {friend} {a food}.
    "This is the best day of my life!" said {hero}.
    They danced around and sang.`,
    'happy',
  ),
  comfort: sentences(
    'failed !quarrel !ended',
    '',
    `
    "I am here with you," said {friend}.
    {Friend} gave {him} {a food}.
    "It is not so bad," said {friend} {manner}.
    {Friend} sat down next to {him}.
    "We will try again tomorrow," said {friend}.
    {Friend} told {him} a story to make {him} laugh.`,
    'calm',
  ),
  happy_end: [
    ...sentences(
      'solved !ended',
      'ended',
      `
      From that day on, they were best friends.
      They played {game} until the sun went down.
      {Hero} went home with a big smile.
      And they were {happy} ever after.
      That night {hero} slept well.
      And so {hero} learned that friends help each other.
      The next day they went to {ground} together.
      {Hero} told the whole family about it that evening.
      And whenever {friend} was {sad}, {hero} came to help.`,
      'happy',
    ),
    ...sentences(
      'solved owns !ended',
      'ended',
      `
      And {he} took good care of the {thing}.
      That night {hero} slept with the {thing} in {his} arms.`,
      'happy',
    ),
  ],
  sad_end: [
    ...sentences(
      'failed !ended',
      'ended',
      `
      {Hero} went home alone and cried.
      That night {he} could not sleep.
      {Hero} was {sad} for a long time.
      {He} looked out of the window and sighed.
      And {hero} never went back to {ground}.`,
      'sad',
    ),
    ...sentences('failed owns !ended', 'ended', '{Hero} missed the {thing} every day.', 'sad'),
    ...sentences(
      'failed fears !ended',
      'ended',
      'And {hero} was {afraid} whenever {he} thought of it.',
      'afraid',
    ),
  ],
  angry_end: sentences(
    'failed !ended',
    'ended',
    `
    {Hero} went home and slammed the door.
    {Hero} was {angry} with everyone.
    {He} stamped {his} foot and said nothing all evening.`,
    'angry',
  ),
  calm_end: sentences(
    'failed !quarrel !ended',
    'ended',
    `
    But {he} had found a friend, and that was better.
    {Hero} was still a little {sad}, but {he} was not alone.
    They watched the stars together.
    After a while {he} felt {calm}.
    They sat together and listened to the rain.
    And {hero} knew that tomorrow was another day.`,
    'calm',
  ),
}
