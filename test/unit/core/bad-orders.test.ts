import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readOrders } from '../../../core/order/read/read.ts';
import { bytesOf } from './orders.ts';

/** Where the fault is and what it says: of each file in test/orders/bad. */
const faultsOfFiles: Record<string, [path: string, says: RegExp][]> = {
  '200-digit-number.json': [['lines[0].quantity', /too many digits/]],
  'control-characters.json': [['lines[0].name', /control character U\+0007/]],
  'duplicate-lines.json': [['lines[1].lineId', /used twice/]],
  'impossible-date.json': [['chargeOn', /not a calendar date/]],
  'missing-field.json': [['supplierId', /is missing/]],
  'negative-quantity.json': [['lines[0].quantity', /more than zero/]],
  'no-lines.json': [['lines', /at least one line/]],
  'not-json.txt': [['', /is not JSON.*line 2 column 3/]],
  'number-for-decimal.json': [['lines[0].unitPrice', /in quotes/]],
  'total-does-not-add-up.json': [['statedTotal', /EUR 1375.78, but .* EUR 1375.77/]],
  'unknown-currency.json': [['currency', /"XXX"/]],
  'unknown-field.json': [['lines[0].unitprice_', /did you mean "unitPrice"/]],
  'unknown-time-zone.json': [['timeZone', /did you mean "Europe\/Amsterdam"/]],
  'wrong-type.json': [['buyer', /must be an object/]],
  'doctype.xml': [['', /DOCTYPE.*entities and DTDs are refused/]],
  'entity-bomb.xml': [['', /DOCTYPE.*entities and DTDs are refused/]],
  'latin-1.xml': [['', /encoding is "ISO-8859-1".*UTF-8/]],
  'line-does-not-add-up.xml': [
    ['/Order/OrderLine[2]/LineItem/LineExtensionAmount', /says "183", but .* EUR 138.00/],
  ],
  'malformed.xml': [['', /line 26, column 41.*unexpected close tag/]],
  'missing-quantity.xml': [
    ['/Order/OrderLine[2]/LineItem/Quantity', /is missing.*add it/],
    ['/Order/OrderLine[2]/LineItem/Quantity/@unitCode', /is missing/],
  ],
  'negative-allowance.xml': [['/Order/AllowanceCharge[2]', /negative Amount.*ChargeIndicator/]],
  'no-charge-indicator.xml': [['/Order/AllowanceCharge[1]', /no ChargeIndicator/]],
  'no-contact.xml': [
    ['/Order/BuyerCustomerParty/Party/Contact/ElectronicMail', /missing.*invoice is mailed there/],
  ],
  'other-currency.xml': [
    ['/Order/OrderLine[2]/LineItem/Price/PriceAmount/@currencyID', /"USD".*"EUR"/],
  ],
  'other-unit-in-base-quantity.xml': [
    ['/Order/OrderLine[3]/LineItem/Price/BaseQuantity/@unitCode', /"BX".*"EA"/],
  ],
  'total-does-not-add-up.xml': [
    ['/Order/AnticipatedMonetaryTotal/PayableAmount', /says EUR 419.11, but .* EUR 419.10/],
  ],
  'wrong-root.xml': [['/Invoice', /"Invoice" in .*root must be Order in urn:oasis/]],
};

test('every bad order in the folder is one that this file expects', () => {
  const files = readdirSync(new URL('../../orders/bad/', import.meta.url));
  assert.deepEqual(files.sort(), Object.keys(faultsOfFiles).sort());
});

for (const [file, expected] of Object.entries(faultsOfFiles)) {
  test(`bad/${file} is refused where the fault is`, () => {
    const result = readOrders(bytesOf(`test/orders/bad/${file}`), file);
    assert.ok(!result.ok);
    assert.deepEqual(
      result.faults.map(({ path }) => path),
      expected.map(([path]) => path),
    );
    for (const [i, [, says]] of expected.entries()) {
      assert.match(`${result.faults[i]?.message} ${result.faults[i]?.hint}`, says);
    }
  });
}
