// Lists what characters own, wish for and lose, and what such things are like.
import { listed } from './listed.ts'

/** Things of which one is owned. */
export const THINGS = listed(`
  ball kite hat boat book doll drum bell cup lamp scarf coat basket key ring box flute bike cart map
  balloon umbrella whistle lantern blanket button marble puppet spoon teapot mirror compass feather shell stone coin ribbon necklace crown wand
  clock watch pencil paintbrush bucket ladder rope net hammer saw shovel rake broom mop brush comb pillow chair table bench
  swing sled wagon scooter trumpet violin guitar piano harp horn trombone tambourine banjo fiddle rattle top yoyo hoop robot
  train plane rocket ship raft canoe paddle anchor sail flag tent backpack suitcase purse wallet belt cape cloak jacket
  sweater shirt dress skirt apron vest cap bonnet helmet mask wig shawl bracelet locket brooch medal badge stamp card letter
  diary notebook crayon easel statue vase jar bottle mug plate bowl pan kettle jug tray candle torch bulb candlestick
  telescope microscope camera radio album puzzle dice kaleidoscope magnet spinner snowglobe trophy wreath garland bouquet acorn pinecone pebble
  sword shield bow arrow banner tapestry quilt cushion rug mat hammock parasol fan stool trunk chest barrel crate bag sack`)

/** Things of which there are always several. */
export const PAIRS = listed(`
  boots mittens gloves shoes socks slippers skates skis glasses sandals earrings marbles stilts overalls trousers pyjamas binoculars scissors
  crayons dominoes`)

/** What a thing looks like. */
export const LOOKS = listed(`
  red blue green yellow new old big small shiny golden silver white black pink purple orange brown pretty soft wooden
  round long warm tiny huge heavy light bright dark colourful striped spotted plain fancy simple broad narrow thick thin
  smooth rough fluffy woolly silky velvet leather paper glass metal iron copper tin stone clay crystal painted carved woven knitted
  crimson scarlet violet turquoise grey beige cream ivory amber emerald ruby sapphire rainbow glittering sparkling gleaming glowing faded
  crooked curly fine lovely beautiful ugly strange funny magic secret precious rare cheap clean dusty rusty muddy patched handmade
  square oval hollow solid sturdy delicate elegant enormous giant little miniature mighty modest noisy odd polished quaint royal rustic`)

/** What makes a thing whole again or reaches it. */
export const TOOLS = listed(`
  stick rope ladder net string needle hammer nail ribbon pole hook glue thread tape branch wire brush chisel peg clamp`)

/** Food that is shared. */
export const FOODS = listed(
  `
  apple cake pie cookie bun pear plum peach sandwich pancake muffin carrot biscuit berry melon sausage waffle tart cherry nut
  banana orange lemon fig grape apricot pretzel doughnut roll bagel omelette egg turnip radish pumpkin potato tomato cucumber pickle
  dumpling noodle burger taco pasty scone crumpet brownie cupcake éclair`.replace(' éclair', ''),
)
