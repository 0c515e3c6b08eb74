export { until as eventually } from '../../support/until.ts';
