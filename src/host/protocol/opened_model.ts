// Declares the messages about models that a person opened: files and addresses go to the worker,
// what a model is and says comes back. Two can be open at a time, side by side.
import type { FieldValue } from '../../rl/fields/field.ts'
import type { EntropyChanges } from '../../rl/look/opened_model.ts'
import type { TextParts } from '../../rl/look/opened_parts.ts'
import type { DirectionPlace } from '../../rl/look/opened_steering.ts'
import type { Lens } from './observation.ts'

export type { DirectionPlace, TextParts }

export type ModelPlace = 'first' | 'second'

/** How a model writes; verl's names. 0 for temperature is greedy, 0 for top_k and 1 for top_p leave
 * all tokens in. */
export interface WritingSettings {
  readonly temperature: number
  readonly top_p: number
  readonly top_k: number
  readonly max_tokens: number
  readonly seed: number
}

/** One turn of a conversation, as chat templates read it. */
export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** What a model continues: a text as it is, or a conversation through the model's own template. */
export type Asked =
  /** `add_special_tokens`, as transformers names it: with what the tokenizer puts around a text. */
  | { readonly text: string; readonly add_special_tokens: boolean }
  | { readonly messages: readonly ChatTurn[] }

/** The files of a folder; no files = there is none. */
export interface NamedFiles {
  readonly name: string
  readonly files: readonly File[]
}

export type ModelCommand =
  /** Opens the model of these files, with an adapter where there are files of one, or with vectors
   * that are added to its states: by layer, 0 to L. Answered by `model_opened` or
   * `model_failed`. */
  | {
      readonly type: 'open_model'
      readonly place: ModelPlace
      readonly name: string
      readonly files: readonly File[]
      readonly adapter: NamedFiles
      readonly vectors?: readonly Float32Array[]
    }
  /** Opens the first model once more, with this adapter merged into it. */
  | { readonly type: 'add_adapter'; readonly adapter: NamedFiles }
  /** Looks for a model on a server, through the port of fetch.html. Answered by `model_found` once
   * the person has agreed there. */
  | {
      readonly type: 'find_model'
      readonly place: ModelPlace
      readonly address: string
      readonly port: MessagePort
    }
  /** Fetches what was found, keeps it and opens it. */
  | { readonly type: 'fetch_model' }
  /** Keeps the files of an open model in the browser. Answered by `models_kept`. */
  | { readonly type: 'keep_model'; readonly place: ModelPlace }
  /** Opens a model that is kept here, or merges a kept adapter into the first model. */
  | { readonly type: 'open_kept'; readonly place: ModelPlace; readonly folder: string }
  /** Answered by `models_kept`. */
  | { readonly type: 'list_models' }
  | { readonly type: 'forget_model'; readonly folder: string }
  /** Ends what is under way: fetching, reading or writing. What has arrived is kept. */
  | { readonly type: 'cancel_model' }
  /** What every layer says of a text. Answered by `model_read` or `model_failed`. */
  | {
      readonly type: 'read_text'
      readonly text: string
      readonly add_special_tokens: boolean
      readonly wants_changes: boolean
      readonly wants_parts: boolean
    }
  /** Writes with the first model. Answered by `model_written`, again and again. */
  | { readonly type: 'write_text'; readonly asked: Asked; readonly settings: WritingSettings }
  /** The first model writes with the direction from one text to another; with two empty texts,
   * without one. Answered by `model_directed`. */
  | { readonly type: 'direct_model'; readonly toward: string; readonly away: string }
  /** Where the direction is added and how strongly, from the next tokens on: heard at once, also
   * while the model writes. */
  | ({ readonly type: 'steer_model' } & DirectionPlace)
  /** What every layer said where token `at` was written. Answered by `model_read`. */
  | { readonly type: 'look_back'; readonly at: number }
  /** What an experiment that begins with the first model says of it, once its files are kept. With
   * an adapter in it the run trains that one, else a fresh one where it `has_adapter`. Answered by
   * `model_start`. */
  | { readonly type: 'start_from'; readonly has_adapter: boolean }
  /** What an experiment that learns from a model says of it, without a look into it: nothing of it
   * goes to the GPU. Files are kept first. Answered by `model_start` or `model_failed`. */
  | { readonly type: 'start_of'; readonly of: NamedFiles | { readonly folder: string } }
  /** Writes the first model as a folder, its adapter merged. Answered by `model_saved`. */
  | { readonly type: 'save_model' }
  /** Frees its memory. */
  | { readonly type: 'close_model'; readonly place?: ModelPlace }

/** What is known of a model, and of its tokenizer. */
export interface OpenedModelFacts {
  readonly name: string
  readonly model_type: string
  readonly num_hidden_layers: number
  readonly hidden_size: number
  readonly vocab_size: number
  readonly num_parameters: number
  /** What the embedding was stored in. */
  readonly dtype: string
  /** The adapter of the GPU, in words. */
  readonly gpu: string
  /** GPU memory that it holds. */
  readonly gpu_bytes: number
  /** By which an experiment names it: `sha256-…`. */
  readonly hash: string
  /** The adapter of PEFT that is merged in; '' without one. */
  readonly adapter: string
  /** It has vectors that are added to its states, which no file of a model holds: it is neither
   * kept nor trained. */
  readonly is_steered: boolean
  /** Why texts are read as token ids; undefined where the folder has a tokenizer. */
  readonly why_ids: string | undefined
  readonly has_template: boolean
  /** What its tokenizer puts around a text: 'begins with <s>'; '' where it adds nothing. */
  readonly special_tokens: string
  /** Whether its files lie in the browser's storage, with those of its adapter. */
  readonly is_kept: boolean
  /** The list of its files, which `hash` is of, and that of its adapter's. */
  readonly lists: readonly StartList[]
  /** What it would take to train it. */
  readonly uses: readonly ModelUse[]
}

/** One use of a model and the GPU memory that is planned for it. `why_not`: why it does not fit
 * here. */
export interface ModelUse {
  readonly what: 'look' | 'lora' | 'full'
  /** It fits with gradient checkpointing alone, so a run that begins with the model has it. */
  readonly enable_gradient_checkpointing: boolean
  readonly bytes: number
  readonly why_not: string | undefined
}

/** What its config says of a model that was found and not fetched. */
export interface FoundModel {
  readonly name: string
  readonly source: string
  /** Of the files that would be fetched, and of them what is here already. */
  readonly bytes: number
  readonly here_bytes: number
  readonly files: number
  readonly model_type: string
  readonly num_parameters: number
  readonly uses: readonly ModelUse[]
  /** Whether the browser has storage for it. Without, it is read straight into the GPU. */
  readonly can_keep: boolean
}

export interface KeptFacts {
  readonly is_adapter: boolean
  readonly folder: string
  /** Undefined while parts are missing. */
  readonly hash: string | undefined
  readonly name: string
  readonly source: string
  readonly bytes: number
}

export interface ModelProgress {
  readonly doing: 'fetching' | 'keeping' | 'reading' | 'writing'
  readonly bytes: number
  readonly of: number
  readonly bytes_per_second: number
  readonly seconds_left: number
}

/** What one model says of a text. */
export interface ModelReading {
  readonly place: ModelPlace
  readonly lens: Lens
  /** Tokens of the text before those of the lens: read by the model, too many to be shown. */
  readonly before: number
  /** Tokens at the end of the lens that the model wrote: `changes` are of them alone. Absent where
   * a person wrote the text. */
  readonly written?: number
  /** Where they were asked for. */
  readonly changes: EntropyChanges | undefined
  readonly parts: TextParts | undefined
}

/** PEFT's settings of the adapter that is trained, as an experiment has them. */
type StartAdapter = Readonly<Record<string, FieldValue>>

/** The list of a folder's files, and its hash. */
export interface StartList {
  readonly hash: string
  readonly name: string
  readonly list: string
}

/** A model as the start of an experiment. */
export interface ModelStart {
  readonly hash: string
  readonly name: string
  /** Its config, in the names of an experiment's model section; `lora` is the adapter that is
   * trained. */
  readonly fields: Readonly<Record<string, FieldValue | StartAdapter>>
  /** The lists of files that hashes are of: the model's, and the adapter's where the run begins
   * with one. */
  readonly lists: readonly StartList[]
  /** The files of its tokenizer by their names. */
  readonly tokenizer: Readonly<Record<string, string>>
}

export interface WrittenPart {
  /** The token's own text: a part of a character is its bytes. */
  readonly token: string
  readonly prob: number
  /** Nats. */
  readonly entropy: number
}

/** A file of a folder that leaves the page. */
export interface SavedFile {
  readonly path: string
  readonly blob: Blob
}

export type ModelEvent =
  | { readonly type: 'model_opened'; readonly place: ModelPlace; readonly model: OpenedModelFacts }
  | { readonly type: 'model_found'; readonly place: ModelPlace; readonly model: FoundModel }
  | { readonly type: 'model_progress'; readonly progress: ModelProgress }
  | {
      readonly type: 'models_kept'
      readonly models: readonly KeptFacts[]
      readonly can_keep: boolean
    }
  | {
      readonly type: 'model_read'
      readonly text: string
      readonly readings: readonly ModelReading[]
    }
  /** `text` is all that was written so far, `parts` the tokens that are new. */
  | {
      readonly type: 'model_written'
      readonly text: string
      readonly parts: readonly WrittenPart[]
      readonly is_done: boolean
      /** It ended at the most tokens that it may have, not with an end token. */
      readonly is_cut?: boolean
    }
  /** The size of each layer's vector; none where there is no direction. */
  | { readonly type: 'model_directed'; readonly sizes: readonly number[] }
  | { readonly type: 'model_start'; readonly start: ModelStart }
  | { readonly type: 'model_saved'; readonly name: string; readonly files: readonly SavedFile[] }
  /** `open`: the places that still hold a model. */
  | {
      readonly type: 'model_failed'
      readonly message: string
      readonly open: readonly ModelPlace[]
    }

const MODEL_COMMANDS: readonly string[] = [
  'open_model',
  'add_adapter',
  'find_model',
  'fetch_model',
  'keep_model',
  'open_kept',
  'list_models',
  'forget_model',
  'cancel_model',
  'read_text',
  'write_text',
  'direct_model',
  'steer_model',
  'look_back',
  'start_from',
  'start_of',
  'save_model',
  'close_model',
] satisfies ModelCommand['type'][]

/** Whether a command is about a model that a person opened. */
export const isModelCommand = (command: { readonly type: string }): command is ModelCommand =>
  MODEL_COMMANDS.includes(command.type)
