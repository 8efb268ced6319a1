// What panels ask of a model's inside, and what they get: made in the worker, kept by the page. The page's names for it.
export {
  asksInside,
  asksMore,
  atMoment,
  LENS_TOP,
  type Lens,
  type LensReadout,
  type LensRequest,
  type LensSample,
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type Observation,
  type ObservationRequest,
  type ObservedGroup,
  type ObservedRows,
  type ObservedValues,
} from '../../rl/look/observation.ts'
