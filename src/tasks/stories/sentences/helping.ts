// Tells how a friend comes, hears what is wrong, and they try to help it.
import { sentences } from './sentence.ts'

const OPEN = '!solved !failed !ended'

export const HELPING = {
  meet: sentences(
    `trouble !friend ${OPEN}`,
    'friend',
    `
    Then {a friend_kind} named {friend} came by.
    {A trait2 friend_kind} named {friend} heard {him}.
    Just then {he} met {a friend_kind} called {friend}.
    {Friend} the {friend_kind} saw {him} and stopped.
    Soon {friend}, {a trait2 friend_kind}, came along.
    A voice spoke, and it was {friend} the {friend_kind}.
    {Friend}, {a trait2 friend_kind}, was on {friend_his} way to {ground}.`,
  ),
  ask: sentences(
    `trouble friend !told ${OPEN}`,
    '',
    `
    "What is wrong?" asked {friend}.
    "Why are you so {sad}?" asked {friend}.
    "Can I help you?" asked {friend} {manner}.
    "What happened?" asked {friend}.
    "Why do you look so {sad}?" asked {friend}.
    "You look {sad}," said {friend} {manner}.`,
  ),
  tell: [
    ...sentences(
      `lost friend !told ${OPEN}`,
      'told',
      `
      "I lost my {thing}," said {hero}.
      "My {thing} {is} gone," said {hero} {manner}.
      "I cannot find my {look} {thing}," said {hero}.
      "Have you seen my {thing}?" asked {hero}.`,
    ),
    ...sentences(
      `broken friend !told ${OPEN}`,
      'told',
      `
      "I broke my {thing}," said {hero}.
      "My {look} {thing} {is} broken," said {hero}.
      "Look, my {thing} fell apart," said {hero} {manner}.`,
    ),
    ...sentences(
      `stuck friend !told ${OPEN}`,
      'told',
      `
      "My {thing} {is} stuck," said {hero}.
      "I cannot reach my {thing}," said {hero} {manner}.
      "How do I get my {thing} back?" asked {hero}.`,
    ),
    ...sentences(
      `wishes friend !told ${OPEN}`,
      'told',
      `
      "I want {a look thing}," said {hero}.
      "I wish I had {a look thing}," said {hero} {manner}.
      "All I want is {a look thing}," said {hero}.`,
    ),
    ...sentences(
      `fears friend !told ${OPEN}`,
      'told',
      `
      "I am afraid of {fear}," said {hero}.
      "I am scared of {fear}," said {hero} {manner}.
      "I cannot stop thinking of {fear}," said {hero}.`,
    ),
    ...sentences(
      `astray friend !told ${OPEN}`,
      'told',
      `
      "I cannot find the way home," said {hero}.
      "I am lost," said {hero} {manner}.
      "Which way is my house?" asked {hero}.`,
    ),
    ...sentences(`trouble friend !told ${OPEN}`, 'told', '{Hero} told {friend} everything.'),
  ],
  offer: [
    ...sentences(
      `trouble told !quarrel !making ${OPEN}`,
      '',
      `
      "Do not worry, I will help you," said {friend}.
      "I have an idea," said {friend}.
      "Friends help each other," said {friend} {manner}.
      "Two can do more than one," said {friend}.
      "Come with me," said {friend} {manner}.`,
    ),
    ...sentences(`lost told ${OPEN}`, '', '"We will find {them}," said {friend}.'),
    ...sentences(`broken told ${OPEN}`, '', '"We can fix {them}," said {friend}.'),
    ...sentences(`stuck told ${OPEN}`, '', '"I can reach {them}," said {friend}.'),
    ...sentences(`wishes told ${OPEN}`, '', '"Work hard, and you will get {them}," said {friend}.'),
    ...sentences(`astray told ${OPEN}`, '', '"I know the way," said {friend}.'),
    ...sentences(
      `fears told ${OPEN}`,
      '',
      `
      "I was afraid of {fear} too," said {friend}.
      "Take my hand," said {friend}.
      "Close your eyes and count to ten," said {friend}.`,
    ),
  ],
  try: [
    ...sentences(
      `lost told ${OPEN}`,
      'trying',
      `
      They looked {spot} and {spot2}.
      Together they searched {spot}.
      They looked everywhere, even {spot}.
      They went back to {ground} and looked there.
      {Friend} asked everyone at {ground}.
      They turned over every stone at {ground}.`,
    ),
    ...sentences(
      `broken told ${OPEN}`,
      'trying',
      `
      {Friend} brought {a tool} and {a tool2}.
      {Friend} worked all day with {a tool}.
      They tried to mend {them} with {a tool}.
      They put the pieces together with {a tool}.`,
    ),
    ...sentences(
      `stuck told ${OPEN}`,
      'trying',
      `
      {Friend} pulled with {a tool}.
      {Friend} took {a tool} and reached for {them}.
      They pushed and pulled {manner}.
      {Hero} held {a tool} while {friend} pulled.`,
    ),
    ...sentences(
      `wishes told ${OPEN}`,
      'trying',
      `
      So {hero} worked hard at {ground}.
      They sold {food_s} at {ground}.
      {Hero} saved every coin.
      {Hero} did the work of two at {ground}.`,
    ),
    ...sentences(
      `fears told ${OPEN}`,
      'trying',
      `
      {Hero} took one step, and then another.
      They sang a song together.
      {Hero} held {friend_his} hand and breathed {manner}.
      {Friend} counted to ten, and {hero} opened {his} eyes.`,
    ),
    ...sentences(
      `astray told ${OPEN}`,
      'trying',
      `
      They walked past {ground} and {ground2}.
      {Friend} went ahead, and {hero} followed {manner}.
      They followed the stars.
      They asked the way at {ground}.`,
    ),
    ...sentences(
      `quarrel told ${OPEN}`,
      'trying',
      `
      "I am sorry," said {hero}.
      "I am sorry," said {friend} {manner}.
      "Let us share {them}," said {hero}.
      Then they thought about it and felt {sad}.
      "You can have {them} first," said {hero}.`,
    ),
  ],
}
