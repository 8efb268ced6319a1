// Offers the ways to open a model: a folder of this machine, an address or a name on the Hub, and
// the browser's own storage.
import { FolderOpen } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { type ModelAddress, modelAddress } from '../../../host/content/models/model_address.ts'
import type { FoundModel } from '../../../host/protocol/opened_model.ts'
import {
  fetchModel,
  findModel,
  forgetModel,
  listModels,
  nextPlace,
  openedModelStore,
  openKept,
} from '../../../page/opened/opened_model.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { formatBytes, formatCount } from '../../kit/format.ts'
import { chooseFile } from '../../open/files.ts'
import { NEEDS_GPU } from '../../part/no_gpu.ts'
import { useLab } from '../../shown/run.ts'
import { AskedProblem } from './chat/AskedProblem.tsx'
import { FetchFrame } from './FetchFrame.tsx'
import { MemoryPlan } from './MemoryPlan.tsx'
import { openModelFolder } from './model_files.ts'
import { ShippedModels } from './ShippedModels.tsx'
import { useProblem } from './use_problem.ts'

/** What would be fetched, and what it would take: before anything but the config is here. */
function Found({ model, isBusy }: { model: FoundModel; isBusy: boolean }) {
  const { bytes, here_bytes, files, num_parameters, model_type, uses, can_keep } = model
  return (
    <section
      className="model-found"
      aria-label="The model that was found"
      data-testid="model-found"
    >
      <p>
        <strong translate="no">{model.name}</strong>: {model_type}, {formatCount(num_parameters)}{' '}
        weights; {files} files, {formatBytes(bytes)}
        {here_bytes > 0 ? `, of which ${formatBytes(here_bytes)} are here already` : ''}.{' '}
        {can_keep
          ? ''
          : 'This browser gives the page no storage, so it is read straight into the GPU and not kept.'}
      </p>
      <MemoryPlan uses={uses} />
      <button
        type="button"
        className="primary"
        data-testid="model-fetch"
        disabled={isBusy}
        onClick={fetchModel}
      >
        {here_bytes > 0 ? 'Fetch the rest and open' : 'Fetch and open'}
      </button>
    </section>
  )
}

function AddressForm({ onAddress }: { onAddress: (address: ModelAddress, typed: string) => void }) {
  const [typed, setTyped] = useState('')
  const lacksGpu = useLab(selectLacksGpu)
  const [problem, setProblem] = useProblem('address')
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setProblem(undefined)
    try {
      onAddress(modelAddress(typed), typed)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <form onSubmit={onSubmit} className="model-text">
      <label>
        <span>A name on the Hugging Face Hub, or the address of a folder</span>
        <input
          type="text"
          data-testid="model-address"
          spellCheck={false}
          autoComplete="off"
          placeholder="HuggingFaceTB/SmolLM2-135M"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <button type="submit" data-testid="model-find" disabled={typed === '' || lacksGpu}>
        Look for it
      </button>
      <small className="soft">
        The page asks you first. Then it reads the config alone, and says how large the model is and
        what fits into this GPU’s memory. Nothing else is fetched before you press the next button.
      </small>
      <AskedProblem by={['address']} own={problem} />
    </form>
  )
}

/** Models that the browser keeps, each with its size and a way to be rid of it. */
function Kept() {
  const kept = useStore(openedModelStore, (state) => state.kept)
  const isBusy = useStore(openedModelStore, (state) => state.isBusy)
  if (!kept || kept.models.length === 0) return null
  return (
    <table className="model-table" data-testid="models-kept">
      <caption>Kept in this browser, on this machine alone</caption>
      <tbody>
        {kept.models.map(({ folder, name, source, bytes, hash, is_adapter }) => (
          <tr key={folder}>
            <th scope="row" title={hash ?? source}>
              {name}
            </th>
            <td>
              {formatBytes(bytes)}
              {hash === undefined ? ', not whole' : ''}
              {is_adapter ? ', an adapter' : ''}
            </td>
            <td>
              {hash === undefined ? null : (
                <button type="button" disabled={isBusy} onClick={() => openKept(folder)}>
                  {is_adapter ? 'Merge into the model' : 'Open'}
                </button>
              )}{' '}
              <button type="button" disabled={isBusy} onClick={() => forgetModel(folder)}>
                Forget
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function FolderWay({ hasModel }: { readonly hasModel: boolean }) {
  const lacksGpu = useLab(selectLacksGpu)
  const [problem, setProblem] = useProblem('folder')
  return (
    <div className="model-way">
      {hasModel ? null : <h3>From this machine</h3>}
      <button
        type="button"
        disabled={lacksGpu}
        onClick={() => chooseFile(true, (files) => setProblem(openModelFolder(files)))}
      >
        <FolderOpen className="icon" aria-hidden="true" />{' '}
        {hasModel ? 'Open another model, or an adapter of this one …' : 'Open a folder …'}
      </button>
      <small className="soft">
        A qwen3, qwen2 or llama model: a folder with config.json and safetensors, as transformers
        saves it, or a checkpoint of verl. With its tokenizer you write words; without, token ids.
      </small>
      <AskedProblem by={['folder']} own={problem} />
    </div>
  )
}

export function OpenWays({ hasModel }: { hasModel: boolean }) {
  const { found, isBusy, place } = useStore(openedModelStore)
  const lacksGpu = useLab(selectLacksGpu)
  const [asked, setAsked] = useState<
    { address: ModelAddress; typed: string; count: number } | undefined
  >(() => {
    const { sought: typed } = openedModelStore.getState()
    return typed === '' ? undefined : { address: modelAddress(typed), typed, count: 0 }
  })
  useEffect(listModels, [])
  const onAddress = (address: ModelAddress, typed: string) =>
    setAsked((before) => ({ address, typed, count: (before?.count ?? 0) + 1 }))
  return (
    <section className="model-ways" aria-label="Open a model">
      {lacksGpu ? <p data-testid="models-need-gpu">{NEEDS_GPU}.</p> : null}
      {hasModel ? <h3>Open another</h3> : null}
      {hasModel ? (
        <label className="model-check">
          <input
            type="checkbox"
            data-testid="model-beside"
            checked={place === 'second'}
            onChange={({ target }) => nextPlace(target.checked ? 'second' : 'first')}
          />
          <span>Open the next one beside this one, to compare</span>
        </label>
      ) : null}
      {hasModel ? null : <ShippedModels isBusy={isBusy} />}
      <Kept />
      <AskedProblem by={['kept']} />
      <div className="model-way">
        {hasModel ? null : <h3>From the Hugging Face Hub</h3>}
        <AddressForm onAddress={onAddress} />
        {asked ? (
          <FetchFrame
            key={asked.count}
            address={asked.address}
            onPort={(port) => findModel(asked.typed, port)}
          />
        ) : null}
        {found ? <Found model={found} isBusy={isBusy} /> : null}
      </div>
      <FolderWay hasModel={hasModel} />
    </section>
  )
}
