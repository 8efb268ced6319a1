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
  sword shield bow arrow banner tapestry quilt cushion rug mat hammock parasol fan stool trunk chest barrel crate bag sack
accordion cello clarinet flugelhorn gong lute lyre mandolin oboe organ piccolo saxophone tuba xylophone zither triangle cymbal bagpipe recorder metronome
  almanac atlas calendar chart comic dictionary leaflet manuscript novel notepad newspaper pamphlet parchment postcard poster scroll sketchbook songbook ticket scrapbook
  anorak bandana beret blouse bowtie cardigan cloche corset frock gown hood jersey jumper kilt kimono mantle parka poncho robe sash
  sarong sombrero smock tabard tiara toga tunic turban tuxedo veil visor waistcoat amulet anklet bangle charm choker cufflink diadem pendant
  pin tassel talisman bauble figurine ornament pinwheel windmill rosette trinket keepsake souvenir relic heirloom token pennant streamer doily lampshade tablecloth
  armchair bookcase bookshelf cabinet cot couch cradle cupboard desk dresser footstool mattress nightstand ottoman rocker sideboard sofa wardrobe bunk birdhouse
  barometer thermometer sundial hourglass periscope magnifier sextant gauge globe projector typewriter telephone television computer printer scale lens prism telegraph
  buoy canteen dinghy gondola hovercraft kayak lifeboat rowboat rudder sailboat steamer submarine surfboard tugboat yacht chariot carriage cab coach limousine
  lorry motorbike rickshaw roller sledge sleigh snowboard toboggan tractor tricycle trolley truck unicycle van wheelbarrow wheel skateboard stroller pram locomotive
  beaker blender casserole cauldron colander corkscrew decanter dish flask fork funnel goblet grater griddle ladle napkin oven
  percolator pitcher platter ramekin saucepan saucer sieve skewer skillet spatula strainer tankard teacup thermos timer toaster tumbler urn whisk
  awl axe crowbar drill file hoe lever mallet pickaxe pitchfork plough pulley sander scythe sickle sledgehammer spade spanner
  boomerang catapult dartboard frisbee gyroscope hobbyhorse jigsaw mobile paperweight racket shuttlecock slingshot teddy trampoline trapeze tyre volleyball
  beehive cocoon conch daffodil daisy dahlia fern fossil gem geode iris lily marigold nugget orchid pansy petal poppy rose sapling
  seashell sunflower thistle tulip walnut wishbone zinnia cactus bonsai amethyst opal pearl diamond jewel spyglass nightlight doorbell doorknob`)

/** Things of which there are always several. */
export const PAIRS = listed(`
  boots mittens gloves shoes socks slippers skates skis glasses sandals earrings marbles stilts overalls trousers pyjamas binoculars scissors
  crayons dominoes
trainers clogs moccasins leggings tights braces goggles tongs pliers tweezers shears clippers dungarees knickerbockers jeans shorts breeches galoshes spectacles castanets`)

/** What a thing looks like. */
export const LOOKS = listed(`
  red blue green yellow new old big small shiny golden silver white black pink purple orange brown pretty soft wooden
  round long warm tiny huge heavy light bright dark colourful striped spotted plain fancy simple broad narrow thick thin
  smooth rough fluffy woolly silky velvet leather paper glass metal iron copper tin stone clay crystal painted carved woven knitted
  crimson scarlet violet turquoise grey beige cream ivory amber emerald ruby sapphire rainbow glittering sparkling gleaming glowing faded
  crooked curly fine lovely beautiful ugly strange funny magic secret precious rare cheap clean dusty rusty muddy patched handmade
  square oval hollow solid sturdy delicate elegant enormous giant little miniature mighty modest noisy odd polished quaint royal rustic
antique ancient auburn azure bent bold bony brass brassy brick bronze bulky bumpy burgundy charming checked chilly chipped chubby
  chunky circular classic coarse comfortable compact cool coral cosy crimped crinkled crisp cubic curved cyan dainty damp dazzling deep dented
  dim dotted downy dry dull earthen ebony enchanted exotic exquisite fabulous famous felt feathery fiery filthy flaming flat flexible floral
  foldable foreign fragile fragrant frayed fresh frilly frosted funky furry fuzzy gaudy genuine gilded glossy gorgeous graceful granite
  greasy hairy hazel hefty historic icy immense indigo inky jade jagged jewelled knobbly knotted lacy laced lavender leafy
  lilac linen liquid lime lopsided lumpy luxurious magnificent mahogany marbled maroon marvellous massive mauve mechanical mended mint misshapen misty mossy mottled
  mysterious navy neat oaken ochre opaque ornate padded pale pastel peachy pearly petite plastic pleated pointed portable
  practical priceless prickly puffy quilted ragged rectangular reddish refined ribbed ripped rosy rubber ruffled russet saffron sandy satin scratched scented
  sewn shabby shapely sleek slender slim slippery soapy splendid spongy spotless springy stained starry steel sticky stiff straight striking stylish
  suede superb tall tangled tattered tartan tasselled tawny tidy timeworn torn tough translucent transparent triangular twisted unusual used useful vintage`)

/** What makes a thing whole again or reaches it. */
export const TOOLS = listed(`
  stick rope ladder net string needle hammer nail ribbon pole hook glue thread tape branch wire brush chisel peg clamp
saw drill file mallet lever crowbar pulley spanner screwdriver screw bolt rivet magnet broom rake shovel spade pitchfork oar paddle
  staple pin button zip buckle strap belt cord chain cable lasso plank log pebble wedge crane winch jack
  sponge rag patch bandage plaster toothpick hairpin paperclip thimble scraper trowel stapler ruler vice`)

/** Food that is shared. */
export const FOODS = listed(
  `
  apple cake pie cookie bun pear plum peach sandwich pancake muffin carrot biscuit berry melon sausage waffle tart cherry nut
  banana orange lemon fig grape apricot pretzel doughnut roll bagel omelette egg turnip radish pumpkin potato tomato cucumber pickle
  dumpling noodle burger taco pasty scone crumpet brownie cupcake
  almond acorn artichoke aubergine avocado baguette bean beetroot blackberry blueberry blintz bonbon bratwurst breadstick burrito cabbage candy cantaloupe caramel
  cashew cauliflower cheesecake chestnut chilli chocolate chop clementine coconut corncob courgette cracker cranberry crepe croissant croquette
  currant cutlet damson date eclair elderberry enchilada falafel fishcake flapjack flan fritter gherkin gingerbread gooseberry grapefruit guava
  hamburger hazelnut huckleberry jelly kebab kiwi kumquat leek lettuce lime lollipop loaf macaroon madeleine mandarin mango marshmallow meatball
  meringue mulberry mushroom nectarine oatcake olive onion papaya parsnip pastry pea peanut pecan pepper pineapple pistachio
  pizza plantain pomegranate popsicle praline prawn prune quiche quince raisin raspberry rusk samosa satsuma shortbread sorbet
  strawberry strudel sundae sweet tangerine teacake toffee tortilla truffle turnover walnut watermelon wrap yam`,
)
