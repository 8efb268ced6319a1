// Lists the places where stories happen.
import { listed } from './listed.ts'

/** Where a character lives. */
export const HOMES = listed(`
  by the river, in the forest, on the hill, near the sea, in a small house, on a farm, under an old tree, in the village, by the lake, in a cave,
  in the valley, at the edge of the woods, in a castle, on an island, behind the mill, near the bridge, in a windmill, by the pond, in a meadow, on a mountain,
  in a hollow log, above the bakery, beside the road, in a lighthouse, on a boat, in the old town, near the market, under the stairs, in a garden, at the end of the lane,
  in the desert, in the jungle, among the reeds, on the moor, in a burrow, in a nest, in a barn, under a bush, in a tower, next to the school,
  in a caravan, on the cliff, in the harbour, by the canal, in an attic, near the swamp, beyond the fields, in a cottage, in the orchard, at the foot of the mountain,
  in a tent, on the beach, behind the waterfall, under the bridge, in a wagon, near the station, in the city, by the well, in a palace, on the prairie`)

/** Where a character goes to play. */
export const GROUNDS = listed(`
  the park, the meadow, the beach, the garden, the woods, the field, the river, the hill, the playground, the lake,
  the market, the pond, the yard, the orchard, the square, the bridge, the valley, the shore, the barn, the stream,
  the village green, the old mill, the forest path, the harbour, the school, the riverbank, the clearing, the hilltop, the castle, the farm,
  the fair, the station, the library, the museum, the bakery, the churchyard, the quarry, the dunes, the marsh, the vineyard`)

/** Where one looks for a thing. */
export const SPOTS = listed(`
  under the bed, behind the door, in the tall grass, under a bush, behind a rock, in the leaves, under the table, in the mud, behind the fence, in the attic,
  under the stairs, in the hay, behind the curtain, in a puddle, under a log, in the cupboard, behind the shed, in the ditch, under the porch, in the snow,
  among the flowers, beside the well, inside a hollow tree, under the bridge, behind the sofa, in the sand, near the gate, beneath the roots, in the wheelbarrow, behind the oven,
  in the cellar, on the roof, in the ivy, under a blanket, in the basket, beside the path, in the pantry, between the stones, in the reeds, behind the barn`)

/** Where a thing gets stuck. */
export const HEIGHTS = listed(`
  in a tree, on the roof, on a high branch, on top of the wall, on a tall shelf, in a thorn bush, on the chimney, on a ledge, in the gutter, on the steeple,
  in the middle of the pond, behind a heavy rock, in a deep hole, under the gate, at the bottom of the well`)
