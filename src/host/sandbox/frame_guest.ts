// Runs guests on the page: a worker inside a frame of opaque origin (public/sandbox.html), which
// has no network, no storage, no GPU and no page.
import { WORKER_CODE } from './guest_code.ts'
import type { Guest, GuestHearer, ProgramOrder } from './program_sandbox.ts'

/** A frame that says nothing for so long is not there. */
const OPEN_MS = 20_000

type FrameMessage = { readonly open: true } | { readonly line: string } | { readonly ended: string }

/** Starts a guest in a frame of its own; `end` removes the frame with all that is in it. */
export function startFrameGuest(order: ProgramOrder, hearer: GuestHearer): Guest {
  const frame = document.createElement('iframe')
  const { port1: port, port2 } = new MessageChannel()
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.hidden = true
  frame.src = new URL('sandbox.html', document.baseURI).href
  const watch = setTimeout(
    () =>
      hearer.ended(
        'its frame did not open; a host that sends a Content-Security-Policy must leave it out for sandbox.html (docs/hosting.md)',
      ),
    OPEN_MS,
  )
  port.onmessage = ({ data }: MessageEvent<FrameMessage>) => {
    if ('open' in data) {
      clearTimeout(watch)
      port.postMessage({ start: { code: WORKER_CODE, order } })
    } else if ('line' in data) hearer.line(data.line)
    else hearer.ended(data.ended)
  }
  frame.onload = () => frame.contentWindow?.postMessage('', '*', [port2])
  document.body.append(frame)
  return {
    ask: (text, lines) => port.postMessage({ text, lines }),
    end() {
      clearTimeout(watch)
      port.close()
      frame.remove()
    },
  }
}
