// Lists what characters are, and what they are like.
import { listed } from './listed.ts'

/** What a character is: animals, and a few others. */
export const KINDS = listed(`
  fox rabbit bear mouse cat dog owl frog hedgehog squirrel duck girl boy pig goat lamb turtle deer wolf badger
  otter mole beaver hen crow robin swan goose donkey pony cow calf foal kitten puppy piglet chick duckling rooster turkey
  raccoon skunk possum weasel ferret hamster rat bat snail beetle ant bee spider ladybird butterfly moth cricket worm toad newt
  lizard snake dragon elf gnome troll giant wizard witch robot pirate knight prince princess king queen farmer baker
  tiger lion monkey zebra camel giraffe elephant hippo rhino panda koala kangaroo penguin seal walrus whale dolphin crab lobster
  octopus parrot peacock pelican stork heron eagle hawk falcon sparrow wren finch magpie pigeon dove seagull puffin llama alpaca yak
  moose elk bison buffalo ox lynx leopard panther cheetah jackal hyena meerkat mongoose armadillo anteater sloth lemur gorilla chimp`)

/** What a character is like. */
export const TRAITS = listed(`
  little small brave kind shy clever young lonely cheerful curious gentle quiet funny lazy proud old tiny big friendly sleepy
  busy hungry grumpy polite careful careless noisy patient quick slow strong weak thin round tall short fluffy spotted striped
  wise foolish honest merry bold timid dreamy stubborn helpful eager tidy messy silly serious graceful clumsy nervous calm
  generous greedy hopeful restless jolly plump skinny scruffy dusty elegant fearless forgetful thoughtful playful bashful cranky dainty
  adventurous ambitious awkward bossy charming chatty cosy cunning daring earnest energetic fussy humble impatient lively loyal modest
  mischievous neat obedient odd peaceful plain plucky posh rough sensible smart sturdy sweet tender tough trusty witty zealous`)
