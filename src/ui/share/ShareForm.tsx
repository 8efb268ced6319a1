// Makes, in the share dialog, a link with more in it than the experiment. What it holds is said
// before it is copied.
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { MAX_LINK_LENGTH } from '../../document/links/link.ts'
import { TABS } from '../../document/links/view.ts'
import { HIDE_PARTS, LOCK_PARTS, type ViewOptions } from '../../document/links/view_options.ts'
import { contentsStore } from '../../page/contents/here.ts'
import { isOfLink } from '../../page/state/result.ts'
import type { LabState } from '../../page/state/store.ts'
import { formatCount } from '../kit/format.ts'
import { openExport } from '../open/open_export.ts'
import { usePresent } from '../shown/shown.ts'
import { showToast, type UiState, uiStore } from '../shown/store.ts'
import { type Choice, linkOf, noCurves, usualChoice } from './choice_link.ts'
import { HIDDEN, LOCKED } from './names.ts'

const selectNoCurves = () => noCurves(false)
const selectNoCurvesOfRun = () => noCurves(true)
/** The settings say something else than the run on screen. */
const selectHasLeft = (state: LabState) => state.runDocument !== undefined && !isOfLink(state)
const selectSteps = (state: LabState) => state.step
const selectTab = (state: UiState) => state.tab

const frameOf = (url: string) =>
  `<iframe src="${url.replaceAll('&', '&amp;')}" title="Understory" width="100%" height="900"></iframe>`

/** Copies a text and then calls `close`; where the browser forbids it, the link in `field` is
 * selected instead. */
function useCopying(close: () => void) {
  const field = useRef<HTMLTextAreaElement>(null)
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text)
      showToast(`${what} copied.`)
      close()
    } catch {
      field.current?.select()
      showToast('The browser does not allow copying. The link is selected: copy it by hand.')
    }
  }
  return { field, copy }
}

/** Its dialog is open before it is loaded, or while the form of the last opening goes. */
function useFirstFocus() {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    form.current?.querySelector<HTMLElement>(':enabled:not(fieldset, .dialog-head *)')?.focus()
  }, [])
  return form
}

export function ShareForm({ close }: { close: () => void }) {
  const tab = useStore(uiStore, selectTab)
  const hasLeft = usePresent(selectHasLeft)
  const [choice, setChoice] = useState<Choice>(() => ({
    ...usualChoice(),
    withTab: tab !== TABS[0],
  }))
  const { options } = choice
  const why = usePresent(choice.ofRun ? selectNoCurvesOfRun : selectNoCurves)
  const { url, says } = useMemo(() => linkOf(choice, tab), [choice, tab])
  const { field, copy } = useCopying(close)
  const form = useFirstFocus()
  const id = useId()
  const setOptions = (change: Partial<ViewOptions>) =>
    setChoice({ ...choice, options: { ...options, ...change } })
  return (
    <form
      ref={form}
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault()
        copy(url, 'Link')
      }}
    >
      <div className="dialog-head">
        <h2>Share</h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <FirstChoices
        choice={choice}
        noCurves={why}
        hasLeft={hasLeft}
        hasTab={tab !== TABS[0]}
        onChoice={setChoice}
      />
      <ForClass options={options} onOptions={setOptions} />
      <ForFrame
        options={options}
        onOptions={setOptions}
        url={url}
        onCopy={() => copy(frameOf(url), 'Frame')}
      />
      <label htmlFor={`${id}-link`}>Link</label>
      <textarea
        ref={field}
        id={`${id}-link`}
        data-testid="share-link"
        readOnly
        rows={3}
        value={url}
      />
      <p data-testid="share-says">{says}</p>
      <Length url={url} />
      <div className="share-ways">
        <button type="submit" className="primary" data-testid="share-copy">
          Copy link
        </button>
        <button
          type="button"
          data-testid="share-export"
          onClick={() => {
            close()
            openExport()
          }}
        >
          Export a model or a job …
        </button>
        <SaveBundle />
      </div>
    </form>
  )
}

/** A link only names the files of an experiment; a bundle carries them. */
function SaveBundle() {
  const { status } = useStore(contentsStore)
  if (status !== 'here') return null
  const save = async () => (await import('../data/bundles.ts')).saveBundle()
  return (
    <button type="button" data-testid="share-bundle" onClick={() => void save()}>
      Save with its files (.zip)
    </button>
  )
}

/** What goes with the link beside the experiment. */
function FirstChoices(props: {
  choice: Choice
  noCurves: string | undefined
  hasLeft: boolean
  hasTab: boolean
  onChoice: (choice: Choice) => void
}) {
  const { choice, noCurves, hasLeft, hasTab, onChoice } = props
  const steps = usePresent(selectSteps)
  return (
    <>
      {hasLeft ? (
        <Check
          name="of-run"
          checked={choice.ofRun}
          onChange={(ofRun) => onChoice({ ...choice, ofRun, withCurves: ofRun })}
        >
          The run on screen ({formatCount(steps)} steps), not the settings as they are now
        </Check>
      ) : null}
      <Check
        name="with-curves"
        checked={choice.withCurves && noCurves === undefined}
        disabled={noCurves !== undefined}
        onChange={(withCurves) => onChoice({ ...choice, withCurves })}
      >
        The curves of this run, drawn faintly behind the receiver’s own
        {noCurves === undefined ? null : <span className="soft"> ({noCurves})</span>}
      </Check>
      {hasTab ? (
        <Check
          name="with-tab"
          checked={choice.withTab}
          onChange={(withTab) => onChoice({ ...choice, withTab })}
        >
          Opens at the tab that is open here
        </Check>
      ) : null}
      <Check
        name="with-language"
        checked={choice.withLanguage}
        onChange={(withLanguage) => onChoice({ ...choice, withLanguage })}
      >
        Opens in the language of this page
      </Check>
    </>
  )
}

interface OptionsProps {
  readonly options: ViewOptions
  readonly onOptions: (change: Partial<ViewOptions>) => void
}

function ForClass({ options, onOptions }: OptionsProps) {
  return (
    <details>
      <summary>For a class: hide and lock</summary>
      <fieldset>
        <legend>Lock</legend>
        {LOCK_PARTS.map((part) => (
          <Check
            key={part}
            name={`lock-${part}`}
            checked={options.lock.includes(part)}
            onChange={(on) => onOptions({ lock: toggled(LOCK_PARTS, options.lock, part, on) })}
          >
            {LOCKED[part]}
          </Check>
        ))}
      </fieldset>
      <fieldset>
        <legend>Hide</legend>
        {HIDE_PARTS.map((part) => (
          <Check
            key={part}
            name={`hide-${part}`}
            checked={options.hide.includes(part)}
            onChange={(on) => onOptions({ hide: toggled(HIDE_PARTS, options.hide, part, on) })}
          >
            {HIDDEN[part]}
          </Check>
        ))}
      </fieldset>
      <p className="soft">The page says so and has a button that undoes it.</p>
    </details>
  )
}

function ForFrame(props: OptionsProps & { readonly url: string; readonly onCopy: () => void }) {
  const { options, onOptions, url, onCopy } = props
  const id = useId()
  return (
    <details>
      <summary>For a page of your own</summary>
      <Check name="embed" checked={options.embed} onChange={(embed) => onOptions({ embed })}>
        Compact, without head and settings
      </Check>
      {options.embed ? (
        <>
          <label className="visually-hidden" htmlFor={id}>
            HTML of a frame
          </label>
          <textarea id={id} data-testid="share-frame" readOnly rows={3} value={frameOf(url)} />
          <p className="soft">
            It sends its height to your page: {'{'} type: 'understory:height', height {'}'}.
          </p>
          <button type="button" onClick={onCopy}>
            Copy frame
          </button>
        </>
      ) : null}
    </details>
  )
}

function Length({ url }: { readonly url: string }) {
  return (
    <p className={url.length > MAX_LINK_LENGTH ? 'share-long' : 'soft'}>
      The link has {formatCount(url.length)} characters
      {url.length > MAX_LINK_LENGTH
        ? `: some programs cut links beyond ${formatCount(MAX_LINK_LENGTH)}, so send it as a file.`
        : '.'}
    </p>
  )
}

/** The list with or without a name, in the order of all. */
const toggled = <T extends string>(all: readonly T[], names: readonly T[], name: T, on: boolean) =>
  all.filter((other) => (other === name ? on : names.includes(other)))

function Check(props: {
  name: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}) {
  return (
    <label className="share-check">
      <input
        type="checkbox"
        data-testid={`share-${props.name}`}
        checked={props.checked}
        disabled={props.disabled}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <span>{props.children}</span>
    </label>
  )
}
