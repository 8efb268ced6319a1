// Declares the options of npm start, and its messages about the port.
import { parseArgs } from 'node:util'

/** Where the page is unless someone says otherwise. */
export const PORT = 4173
const USAGE = 'Usage: npm start -- [--port N] [--frame-ancestors "ORIGIN …"]'

/** Ports that no browser opens a page at (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
])

const OPTIONS = { port: { type: 'string' }, 'frame-ancestors': { type: 'string' } }

/** The port and the pages that may frame this one, as the arguments ask for, or a problem in
 * words. */
export function readOptions(args) {
  try {
    const { values } = parseArgs({ args, options: OPTIONS })
    const { port = String(PORT), 'frame-ancestors': frameAncestors } = values
    if (BLOCKED.has(Number(port)))
      return {
        problem: `--port: browsers refuse port ${port}, which other services have (fetch.spec.whatwg.org, bad port); try ${PORT}\n${USAGE}`,
      }
    if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
      return { port: Number(port), ...(frameAncestors && { frameAncestors }) }
    return {
      problem: `--port: expected a whole number from 1 to 65535, got ${JSON.stringify(port)}\n${USAGE}`,
    }
  } catch (error) {
    return { problem: `${error.message}\n${USAGE}` }
  }
}

/** What a person should know where the page is at another port than asked for; undefined where it
 * is not. */
export function movedWords(asked, got) {
  if (asked === got) return undefined
  return (
    `Port ${asked} is in use, so the page is at port ${got} this time. To a browser that is another site with its own storage:\n` +
    `runs, checkpoints and settings kept at port ${asked} are not lost, but they are not shown here, and what you keep here is not shown there.\n` +
    `To find them, stop the program that uses port ${asked} (perhaps another npm start, which you can use as well: http://127.0.0.1:${asked}/)\n` +
    `and start again. To stay at port ${got} from now on: npm start -- --port ${got}`
  )
}
