// Draws the list of prompts and responses, walked through by keys, and the numbers of the selected
// token.
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
  useEffect,
  useRef,
  useState,
} from 'react'
import { typing } from '../../kit/input/keys.ts'
import { useMedia } from '../../kit/use_media.ts'
import { Below } from '../../part/Below.tsx'
import { useWholeRows } from '../../part/whole_rows.ts'
import { uiStore } from '../../shown/store.ts'
import {
  type Bundle,
  bundleOf,
  drawnOf,
  type Found,
  type Inspected,
  neighbour,
  numberIn,
  openBundles,
  opening,
  PAGE,
} from '../base/inspect.ts'
import {
  holdTrace,
  NARROW,
  type TokenPlace,
  type TokensView,
  tokensStore,
  useTokens,
} from '../base/view.ts'
import { Readout } from './Readout.tsx'
import { BundleItem, type Colours } from './Responses.tsx'

const selectView = (view: TokensView) => view

const lastToken = ({ traced }: Inspected) => (traced ? traced.tokens.length - 1 : 0)
const clamp = (told: Inspected, t: number) => Math.max(0, Math.min(lastToken(told), t))

/** The token under an event. */
function placeUnder({ target }: SyntheticEvent): TokenPlace | undefined {
  if (!(target instanceof Element)) return undefined
  const token = target.closest<HTMLElement>('[data-t]')
  const told = token?.closest<HTMLElement>('[data-place]')
  return token && told
    ? { place: Number(told.dataset.place), t: Number(token.dataset.t) }
    : undefined
}

/** Opens the group of a response, with enough of it drawn, and puts the cursor there. */
function goTo(found: Found, to: Inspected, t: number): void {
  const bundle = bundleOf(found, to.place)
  const at = bundle?.responses.indexOf(to) ?? 0
  const view = tokensStore.getState()
  const keys = openBundles(found, view).map(({ key }) => key)
  const isHere = bundle !== undefined && keys.includes(bundle.key)
  tokensStore.setState({
    ...opening(view, isHere ? keys : bundle && [bundle.key]),
    pages: Math.max(isHere ? view.pages : 1, 1 + Math.floor(at / PAGE)),
    cursor: { place: to.place, t: clamp(to, t) },
  })
}

type Move = (to: Inspected | undefined, t: number) => void

/** J and K go to the next and the previous response, wherever the focus is. */
function useJumpKeys(found: Found, place: number | undefined, move: Move): void {
  const latest = useRef({ found, place, move })
  latest.current = { found, place, move }
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (!uiStore.getState().shortcuts_on || event.defaultPrevented) return
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return
      const key = event.key.toLowerCase()
      if (key !== 'j' && key !== 'k') return
      event.preventDefault()
      const now = latest.current
      now.move(neighbour(now.found, now.place, key === 'j' ? 1 : -1), 0)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** Where each key leads from token `t` of a response among those that are drawn. */
function movesFrom(
  drawn: readonly Inspected[],
  at: Inspected,
  t: number,
): Readonly<Record<string, readonly [Inspected | undefined, number]>> {
  const index = drawn.indexOf(at)
  return {
    ArrowLeft: [at, t - 1],
    ArrowRight: [at, t + 1],
    ArrowUp: [drawn[index - 1], t],
    ArrowDown: [drawn[index + 1], t],
    Home: [at, 0],
    End: [at, lastToken(at)],
  }
}

/** Focuses and shows the token of the cursor after a key moved it. */
function useFocusOn(
  list: RefObject<HTMLUListElement | null>,
  cursor: TokenPlace,
  hasMoved: RefObject<boolean>,
): void {
  useEffect(() => {
    if (!hasMoved.current) return
    hasMoved.current = false
    const token = list.current?.querySelector<HTMLElement>(
      `[data-place="${cursor.place}"] [data-t="${cursor.t}"]`,
    )
    token?.focus({ preventScroll: true })
    token?.scrollIntoView({ block: 'nearest' })
  }, [list, cursor, hasMoved])
}

/** Focus and clicks put the cursor on a token. */
function onPlace(event: SyntheticEvent): void {
  const place = placeUnder(event)
  holdTrace()
  const { cursor } = tokensStore.getState()
  if (place && (place.place !== cursor.place || place.t !== cursor.t))
    tokensStore.setState({ cursor: place })
}

/** The token under the pointer. */
function useHovered() {
  const [hovered, setHovered] = useState<TokenPlace>()
  const onPointerMove = (event: PointerEvent) => {
    // What scrolls under a pointer at rest is not pointed at.
    if (event.movementX === 0 && event.movementY === 0) return
    const to = placeUnder(event)
    if (to?.place !== hovered?.place || to?.t !== hovered?.t) setHovered(to)
  }
  return { hovered, setHovered, onPointerMove }
}

/** The open groups, where the cursor is among their responses, and the keys that move it; `onMove`
 * is called at each move. */
function useWalk(found: Found, onMove: () => void) {
  const view = useTokens(selectView)
  const { cursor, pages } = view
  const list = useRef<HTMLUListElement>(null)
  const hasMoved = useRef(false)
  // The cursor of another step, or of a closed group, starts at the first response.
  const { open, drawn, at } = drawnOf(found, view)
  const here = at && { place: at.place, t: clamp(at, cursor.t) }
  useFocusOn(list, cursor, hasMoved)
  const move = (to: Inspected | undefined, t: number) => {
    if (!to) return
    holdTrace()
    hasMoved.current = true
    onMove()
    goTo(found, to, t)
  }
  useJumpKeys(found, here?.place, move)
  const onKeyDown = (event: KeyboardEvent) => {
    const from = placeUnder(event)
    if (!from || !at || event.ctrlKey || event.metaKey || event.altKey) return
    const to = movesFrom(drawn, at, from.t)[event.key]
    if (!to) return
    event.preventDefault()
    move(...to)
  }
  return { list, open, pages, query: view.query, drawn, at, here, onKeyDown }
}

/** One group takes the place of another; where several are open, it joins or leaves them. */
function openOne(open: readonly Bundle[], { key }: Bundle, isOpen: boolean): void {
  const others = open.map((one) => one.key).filter((one) => one !== key)
  const kept = isOpen && others.length <= 1 ? [] : others
  const view = tokensStore.getState()
  tokensStore.setState({ ...opening(view, isOpen ? [...kept, key] : kept), pages: 1 })
}

const selectTapped = ({ tapped }: TokensView) => tapped

/** On a phone a tap on a token shows its details below its response; a second tap hides them. */
function useTapped() {
  const tapped = useTokens(selectTapped)
  const readout = useRef<HTMLLIElement>(null)
  // Not where they are still open: the tab is opened again where it was left.
  const hasTapped = useRef(false)
  useEffect(() => {
    if (tapped && hasTapped.current) readout.current?.scrollIntoView({ block: 'nearest' })
    hasTapped.current = false
  }, [tapped])
  const onTap = (event: SyntheticEvent) => {
    const to = placeUnder(event)
    if (!to) return
    hasTapped.current = true
    const isSame = to.place === tapped?.place && to.t === tapped.t
    tokensStore.setState({ tapped: isSame ? undefined : to })
  }
  return { readout, isTapped: tapped !== undefined, onTap }
}

/** A page more of the responses of the open groups. */
function drawMore(query: string, open: readonly Bundle[], pages: number): void {
  const keys = open.map(({ key }) => key)
  tokensStore.setState({ ...opening({ query }, keys), pages: pages + 1 })
}

/** What is known of the token, beside the list; on a phone, where it stands in the list, how to get
 * it there. */
function Beside(props: { tells: ReactNode; isNarrow: boolean; isTapped: boolean }) {
  const { tells, isNarrow, isTapped } = props
  if (!tells) return <p className="readout soft">Open a prompt to see its responses.</p>
  if (!isNarrow) return tells
  if (isTapped) return null
  return <p className="readout soft">Tap a token to see what is known of it.</p>
}

export function List(props: { step: number; found: Found; colours: Colours }) {
  const { step, found, colours } = props
  const { hovered, setHovered, onPointerMove } = useHovered()
  const { list, open, pages, query, drawn, at, here, onKeyDown } = useWalk(found, () =>
    setHovered(undefined),
  )
  const under = hovered && drawn.find(({ place }) => place === hovered.place)
  const isNarrow = useMedia(NARROW)
  const { readout, isTapped, onTap } = useTapped()
  // No pointer passes over a phone.
  const isUnder = under !== undefined && !isNarrow
  const told = isUnder ? under : at
  const t = isUnder ? hovered?.t : here?.t
  const bundle = told && bundleOf(found, told.place)
  const scroll = useRef<HTMLDivElement>(null)
  const below = useWholeRows(scroll, '.bundle-head, .told, .told-readout', '.bundle', true)
  const tells =
    told && bundle && at && t !== undefined ? (
      <Readout
        step={step}
        told={told}
        number={numberIn(bundle, told)}
        t={clamp(told, t)}
        chosen={at}
        layerEntropy={colours.layerEntropy}
      />
    ) : undefined
  return (
    <div className="inspector-body">
      <div className="inspector-list">
        {/* A region that scrolls must be reachable by keyboard. */}
        <div ref={scroll} className="scroll" role="group" aria-label="Responses" tabIndex={0}>
          <ul
            ref={list}
            className="bundles"
            onKeyDown={onKeyDown}
            onFocus={onPlace}
            onClick={(event) => {
              onPlace(event)
              if (isNarrow) onTap(event)
            }}
            onPointerMove={onPointerMove}
            onPointerLeave={() => setHovered(undefined)}
          >
            {found.bundles.map((bundle) => (
              <BundleItem
                key={bundle.key}
                bundle={bundle}
                isOpen={open.includes(bundle)}
                drawn={pages * PAGE}
                colours={colours}
                query={query}
                cursor={here ?? NOWHERE}
                readout={
                  isNarrow && isTapped ? (
                    <li ref={readout} className="told-readout">
                      {tells}
                    </li>
                  ) : null
                }
                onOpen={(isOpen) => openOne(open, bundle, isOpen)}
                onMore={() => drawMore(query, open, pages)}
              />
            ))}
          </ul>
        </div>
        <Below {...below} testId="bundles-below" />
      </div>
      <Beside {...{ tells, isNarrow, isTapped }} />
    </div>
  )
}

const NOWHERE: TokenPlace = { place: -1, t: 0 }
