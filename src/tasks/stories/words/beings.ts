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
  moose elk bison buffalo ox lynx leopard panther cheetah jackal hyena meerkat mongoose armadillo anteater sloth lemur gorilla chimp
squid starfish jellyfish shark salmon trout pike carp eel catfish goldfish tadpole shrimp oyster clam urchin manatee narwhal porpoise orca
  vulture raven jay thrush starling lark swallow swift cuckoo woodpecker kingfisher nightingale canary budgie cockatoo toucan flamingo ostrich emu
  partridge pheasant quail grouse albatross cormorant ibis kestrel buzzard condor lapwing blackbird bullfinch goldfinch crane hummingbird
  chipmunk gopher vole shrew dormouse gerbil chinchilla stoat marten polecat porcupine wombat wallaby platypus opossum tapir okapi gazelle antelope impala
  gnu zebu bullock sheep stallion mare mule kid colt filly heifer hound terrier poodle beagle spaniel collie husky greyhound
  tortoise crocodile alligator iguana gecko chameleon salamander viper python cobra grasshopper dragonfly caterpillar firefly bumblebee wasp hornet earwig centipede scorpion
  mermaid fairy goblin ogre ghost imp pixie sprite unicorn griffin yeti sailor miller tailor cobbler shepherd fisher hunter gardener teacher
  painter piper juggler clown miner potter weaver carpenter blacksmith porter nurse doctor captain sheriff cowboy hermit inventor scholar poet dancer
  bull cowgirl merman`)

/** Kinds with one word for a she and one for a he. */
export const SHE_AND_HE = [
  ['girl', 'boy'],
  ['hen', 'rooster'],
  ['cow', 'bull'],
  ['princess', 'prince'],
  ['queen', 'king'],
  ['witch', 'wizard'],
  ['mare', 'stallion'],
  ['filly', 'colt'],
  ['heifer', 'bullock'],
  ['cowgirl', 'cowboy'],
  ['mermaid', 'merman'],
] as const

/** What a character is like. */
export const TRAITS = listed(`
  little small brave kind shy clever young lonely cheerful curious gentle quiet funny lazy proud old tiny big friendly sleepy
  busy hungry grumpy polite careful careless noisy patient quick slow strong weak thin round tall short fluffy spotted striped
  wise foolish honest merry bold timid dreamy stubborn helpful eager tidy messy silly serious graceful clumsy nervous calm
  generous greedy hopeful restless jolly plump skinny scruffy dusty elegant fearless forgetful thoughtful playful bashful cranky dainty
  adventurous ambitious awkward bossy charming chatty cosy cunning daring earnest energetic fussy humble impatient lively loyal modest
  mischievous neat obedient odd peaceful plain plucky posh rough sensible smart sturdy sweet tender tough trusty witty zealous
agile alert amiable anxious artful attentive blunt bouncy bright brisk bubbly bumbling candid casual cautious civil classy coy crafty crabby
  crusty cuddly dashing dapper decent devoted dignified diligent direct disciplined dizzy dotty droll dutiful eccentric eloquent expert fair faithful fanciful
  fast feisty fickle fierce fiery flighty frank frisky frugal gallant gawky genial giddy gifted glamorous gloomy good grand grave grim
  gruff handsome handy hardy hasty hearty heroic hospitable huge innocent inquisitive intrepid inventive jaunty jovial joyful keen knowing lanky lean
  learned limber lofty logical lovable lucky mannerly meek mellow mighty mild musical naughty nimble nosy obliging observant opinionated
  optimistic orderly outgoing patched peppy perky pesky polished practical precise prickly prim prompt prudent puny quarrelsome queer quirky
  radiant rambling rash rebellious refined reliable resolute respectful rowdy rugged sassy scatterbrained scrawny selfish sensitive serene sharp shaggy
  sincere skilful sleek slender sly smiling snappy snooty sociable solemn spirited sporty spry stately steady stern stocky stout swift talented
  talkative tame tenacious tired tireless unhappy unlucky unruly upbeat upright valiant vain versatile vigilant vivid wary watchful weary whimsical wild`)
