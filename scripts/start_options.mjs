// The options of npm start, and its messages about the port.
import { parseArgs } from 'node:util'

/** Where the page is unless someone says otherwise. */
export const PORT = 4173
const USAGE = 'Usage: npm start -- [--port N] [--frame-ancestors "ORIGIN …"]'

const OPTIONS = { port: { type: 'string' }, 'frame-ancestors': { type: 'string' } }

/** The port and the pages that may frame this one, as the arguments ask for, or a problem in words. */
export function readOptions(args) {
  try {
    const { values } = parseArgs({ args, options: OPTIONS })
    const { port = String(PORT), 'frame-ancestors': frame_ancestors } = values
    if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
      return { port: Number(port), ...(frame_ancestors && { frame_ancestors }) }
    return {
      problem: `--port: expected a whole number from 1 to 65535, got ${JSON.stringify(port)}\n${USAGE}`,
    }
  } catch (error) {
    return { problem: `${error.message}\n${USAGE}` }
  }
}

/** What a person should know where the page is at another port than asked for; undefined where it is not. */
export function movedWords(asked, got) {
  if (asked === got) return undefined
  return (
    `Port ${asked} is in use, so the page is at port ${got} this time. To a browser that is another site with its own storage:\n` +
    `runs, checkpoints and settings kept at port ${asked} are not lost, but they are not shown here, and what you keep here is not shown there.\n` +
    `To find them, stop the program that uses port ${asked} (perhaps another npm start, which you can use as well: http://127.0.0.1:${asked}/)\n` +
    `and start again. To stay at port ${got} from now on: npm start -- --port ${got}`
  )
}
