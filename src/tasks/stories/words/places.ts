// Lists the places where stories happen.
import { listed } from './listed.ts'

/** Where a character lives. */
export const HOMES = listed(`
  by the river, in the forest, on the hill, near the sea, in a small house, on a farm, under an old tree, in the village, by the lake, in a cave,
  in the valley, at the edge of the woods, in a castle, on an island, behind the mill, near the bridge, in a windmill, by the pond, in a meadow, on a mountain,
  in a hollow log, above the bakery, beside the road, in a lighthouse, on a boat, in the old town, near the market, under the stairs, in a garden, at the end of the lane,
  in the desert, in the jungle, among the reeds, on the moor, in a burrow, in a nest, in a barn, under a bush, in a tower, next to the school,
  in a caravan, on the cliff, in the harbour, by the canal, in an attic, near the swamp, beyond the fields, in a cottage, in the orchard, at the foot of the mountain,
  in a tent, on the beach, behind the waterfall, under the bridge, in a wagon, near the station, in the city, by the well, in a palace, on the prairie,
in a windy valley, on a ranch, behind the church, in a basement, by the waterfall, near the quarry, in a treehouse, on a hilltop, under a waterwheel, in a chapel,
  beside the railway, in a monastery, at the end of the world, on a glacier, in an igloo, near a volcano, in a greenhouse, above a shop, in a hutch, behind a hedge,
  in a gatehouse, on the outskirts of town, in a mansion, beside the motorway, in a bungalow, on a houseboat, under the floorboards, in a hollow oak, near the border, in a hayloft,
  by a crossroads, in a ruin, under the pier, in a ditch, on a plateau, in the north, in the south, in a warm country, in a cold country, on the far side of the moon,
  in a beehive, in an anthill, behind the fireplace, in a kennel, in a stable, on a riverboat, in a chimney, in the marshes, in a shipwreck, in a shoebox,
  in a teapot, at the zoo, in a circus, in a museum, in a library, beside a stream, in a birdcage, on the steppe, in a gorge, beneath the roots of an elm`)

/** Where a character goes to play. */
export const GROUNDS = listed(`
  the park, the meadow, the beach, the garden, the woods, the field, the river, the hill, the playground, the lake,
  the market, the pond, the yard, the orchard, the square, the bridge, the valley, the shore, the barn, the stream,
  the village green, the old mill, the forest path, the harbour, the school, the riverbank, the clearing, the hilltop, the castle, the farm,
  the fair, the station, the library, the museum, the bakery, the churchyard, the quarry, the dunes, the marsh, the vineyard,
the theatre, the circus, the zoo, the fountain, the windmill, the lighthouse, the waterfall, the cave, the tower, the palace,
  the abbey, the aquarium, the arcade, the arena, the avenue, the backyard, the bandstand, the bay, the boathouse, the bookshop,
  the brook, the cabin, the cafe, the campsite, the canal, the canyon, the carnival, the cathedral, the chapel, the cinema,
  the cliff, the cornfield, the courtyard, the creek, the crossroads, the dairy, the desert, the dock, the estuary, the factory,
  the ferry, the foothills, the ford, the forge, the fort, the gallery, the garage, the glade, the glen, the greenhouse,
  the grocery, the grotto, the grove, the gymnasium, the hamlet, the heath, the hedgerow, the inn, the island, the jetty,
  the kiosk, the lagoon, the lane, the lawn, the lock, the lookout, the maze, the monument, the moor, the mountain,
  the nursery, the oasis, the observatory, the paddock, the parade, the pasture, the pier, the plain, the planetarium, the plaza,
  the port, the prairie, the railway, the ranch, the rapids, the reservoir, the ridge, the rink, the ruins, the sawmill,
  the stadium, the stables, the swamp, the temple, the terrace, the toyshop, the tunnel, the volcano, the wharf, the workshop`)

/** Where one looks for a thing. */
export const SPOTS = listed(`
  under the bed, behind the door, in the tall grass, under a bush, behind a rock, in the leaves, under the table, in the mud, behind the fence, in the attic,
  under the stairs, in the hay, behind the curtain, in a puddle, under a log, in the cupboard, behind the shed, in the ditch, under the porch, in the snow,
  among the flowers, beside the well, inside a hollow tree, under the bridge, behind the sofa, in the sand, near the gate, beneath the roots, in the wheelbarrow, behind the oven,
  in the cellar, on the roof, in the ivy, under a blanket, in the basket, beside the path, in the pantry, between the stones, in the reeds, behind the barn,
in the rushes, under the carpet, behind the stove, in the drawer, on the windowsill, under the wardrobe, in the shadows, behind the bins, in the letterbox, under the boat,
  on the landing, in the gutter, behind the piano, in the flowerbed, under the staircase, in a molehill, inside the chimney, behind the waterfall, in the rubble, under the floorboards,
  in the henhouse, behind the greenhouse, in the kennel, on the balcony, under the rug, in the laundry, behind the mirror, in the bramble, beside the fireplace, in the moss,
  in the wastebasket, under a mushroom, behind the altar, in the crypt, beneath the icicles, in the clover, under a hedge, in the pigsty, behind the haystack, in the thicket,
  in the nettles, on the mantelpiece, under the armchair, in the heather, behind the radiator, in the sawdust, on the bookshelf, under the cobblestones, in the compost, behind the tombstone,
  in the seaweed, beside the anchor, under the jetty, in the gravel, behind the dustpan, inside a pumpkin, in the washtub, under the saddle, in the trough, behind the bookcase,
  between the cushions, in the furrow, under the tarpaulin, in the shrubs, behind the statue, in the rockpool, on the doorstep, under the umbrella stand, in a rabbit hole, behind the lamppost`)

/** Where a thing gets stuck. */
export const HEIGHTS = listed(`
  in a tree, on the roof, on a high branch, on top of the wall, on a tall shelf, in a thorn bush, on the chimney, on a ledge, in the gutter, on the steeple,
  in the middle of the pond, behind a heavy rock, in a deep hole, under the gate, at the bottom of the well,
on a clothesline, on a lamppost, in a crack in the wall, on the flagpole, behind the bars, in a drainpipe, on the weathercock, on a crane, in a spider web, on a mast,
  between two rocks, in the ice, under a fallen tree, in the bog, on a balcony, behind the boiler, in a hedge, on a windowsill, on an antenna, in a rabbit hole,
  on the scaffolding, in the rafters, on a signpost, in a fork of the oak, under a root, in a keyhole, on a cactus, in the quicksand, behind a grating, on a pylon,
  in a snowdrift, on the bell tower, under the ferry, on a telegraph pole, in a chimney pot, between two planks, on a rainspout, in a thicket, on an awning, under the piano`)
