// Lists the verbs of the stories' sentences, in the forms in which they stand there.
import { listed } from './listed.ts'

/** Every verb, auxiliaries included. */
export const VERBS = listed(`
  was were is are am had have did do can could cannot will would been
  said asked shouted cried called named lived wanted dreamed wished scared like
  loved given got went owned found seen walked set followed took made give
  played showed carried lost broke broken dropped fell pulled stepped stuck blew threw flew floated
  cost looked hid come came stayed felt ran heard move grew know turned dug saw
  fight let rained sat began cry stamped searched met spoke stopped help happened worry
  reach reached fix find work close count want wish get stop thinking look
  told brought worked tried mend put pushed held sold saved sang breathed counted opened
  share thought bought ended sleep slept belonged laughed hugged jumped danced
  shared gave try learned missed sighed slammed knew watched listened see gone`)
