import type { Leg, Passenger, Payment, Reservation, Store, User } from './database.ts';

/** What a tool answers when the request is wrong, such as an unknown id. The tool works, so this is no outage. */
export class RequestError extends Error {}

export type Arguments = Readonly<Record<string, unknown>>;
type Tool = (store: Store, given: Arguments) => unknown;

const BAG_PRICE = 50;

const found = <Row>(row: Row | undefined, what: string, id: unknown): Row => {
  if (row === undefined) throw new RequestError(`${what} ${String(id)} not found`);
  return row;
};

const userOf = (store: Store, id: unknown): User => found(store.row('users', String(id)), 'User', id);

const reservationOf = (store: Store, id: unknown): Reservation =>
  found(store.row('reservations', String(id)), 'Reservation', id);

const pay = (user: User, id: unknown, amount: number): void => {
  const method: Payment = found(user.payment_methods[String(id)], 'Payment method', id);
  if (method.amount === undefined) return;
  if (method.amount < amount) throw new RequestError(`Payment method ${method.id} has not enough balance`);
  if (method.source === 'gift_card') method.amount -= amount;
};

/** The leg with its route and price. A seat is taken for each passenger. */
const seated = (store: Store, { flight_number, date }: Leg, cabin: string, passengers: number) => {
  const flight = found(store.row('flights', flight_number), 'Flight', flight_number);
  const day = found(flight.dates[date], 'Flight day', date);
  const seats = day.available_seats?.[cabin] ?? 0;
  if (day.available_seats === undefined || seats < passengers) throw new RequestError(`No seats on ${flight_number}`);
  day.available_seats[cabin] = seats - passengers;
  const { origin, destination } = flight;
  return { flight_number, date, origin, destination, price: day.prices?.[cabin] ?? 0 };
};

const search: Tool = (store, { origin, destination, date }) =>
  store
    .flights()
    .filter((one) => one.origin === origin && one.destination === destination)
    .flatMap(({ dates, ...flight }) => {
      const day = dates[String(date)];
      if (day?.status !== 'available') return [];
      return [{ ...flight, available_seats: day.available_seats, prices: day.prices }];
    });

const book: Tool = (store, given) => {
  const user = userOf(store, given.user_id);
  const passengers = given.passengers as readonly Passenger[];
  const cabin = String(given.cabin);
  const flights = (given.flights as readonly Leg[]).map((leg) => seated(store, leg, cabin, passengers.length));
  const payments = given.payment_methods as readonly { payment_id: string; amount: number }[];
  for (const { payment_id, amount } of payments) pay(user, payment_id, amount);
  const reservation: Reservation = {
    reservation_id: `NEW${user.reservations.length}${user.user_id.slice(0, 3).toUpperCase()}`,
    user_id: user.user_id,
    origin: String(given.origin),
    destination: String(given.destination),
    flight_type: String(given.flight_type),
    cabin,
    flights,
    passengers,
    payment_history: [...payments],
    total_baggages: Number(given.total_baggages),
    nonfree_baggages: Number(given.nonfree_baggages),
    insurance: String(given.insurance),
  };
  store.add(reservation);
  user.reservations.push(reservation.reservation_id);
  return reservation;
};

const cancel: Tool = (store, { reservation_id }) => {
  const reservation = reservationOf(store, reservation_id);
  if (reservation.status === 'cancelled') throw new RequestError(`Reservation ${String(reservation_id)} is cancelled`);
  const refunds = reservation.payment_history.map(({ payment_id, amount }) => ({ payment_id, amount: -amount }));
  reservation.payment_history.push(...refunds);
  reservation.status = 'cancelled';
  return reservation;
};

const changeFlights: Tool = (store, { reservation_id, cabin, flights, payment_id }) => {
  const reservation = reservationOf(store, reservation_id);
  const count = reservation.passengers.length;
  const legs = (flights as readonly Leg[]).map((leg) => {
    const kept = reservation.flights.find(
      ({ flight_number, date }) => leg.flight_number === flight_number && leg.date === date,
    );
    return kept && cabin === reservation.cabin ? kept : seated(store, leg, String(cabin), count);
  });
  const total = (all: readonly { readonly price: number }[]) => all.reduce((sum, { price }) => sum + price, 0);
  const amount = (total(legs) - total(reservation.flights)) * count;
  pay(userOf(store, reservation.user_id), payment_id, amount);
  reservation.flights = legs;
  reservation.cabin = String(cabin);
  if (amount !== 0) reservation.payment_history.push({ payment_id: String(payment_id), amount });
  return reservation;
};

const changeBags: Tool = (store, { reservation_id, total_baggages, nonfree_baggages, payment_id }) => {
  const reservation = reservationOf(store, reservation_id);
  const amount = BAG_PRICE * Math.max(0, Number(nonfree_baggages) - reservation.nonfree_baggages);
  pay(userOf(store, reservation.user_id), payment_id, amount);
  reservation.total_baggages = Number(total_baggages);
  reservation.nonfree_baggages = Number(nonfree_baggages);
  if (amount > 0) reservation.payment_history.push({ payment_id: String(payment_id), amount });
  return reservation;
};

const changePassengers: Tool = (store, { reservation_id, passengers }) => {
  const reservation = reservationOf(store, reservation_id);
  const named = passengers as readonly Passenger[];
  if (named.length !== reservation.passengers.length) throw new RequestError('The number of passengers cannot change');
  reservation.passengers = named;
  return reservation;
};

const sendCertificate: Tool = (store, { user_id, amount }) => {
  const user = userOf(store, user_id);
  const id = `certificate_${Object.keys(user.payment_methods).length}`;
  user.payment_methods[id] = { id, source: 'certificate', amount: Number(amount) };
  return { sent: id, amount };
};

const calculate: Tool = (_, { expression }) => {
  const text = String(expression);
  if (!/^[\d+\-*/(). ]+$/.test(text))
    throw new RequestError('The expression has other characters than digits and operators');
  return { result: String(Number(new Function(`return ${text}`)())) };
};

/** By their names in tau²-bench's airline domain. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  get_user_details: (store, { user_id }) => userOf(store, user_id),
  get_reservation_details: (store, { reservation_id }) => reservationOf(store, reservation_id),
  search_direct_flight: search,
  book_reservation: book,
  cancel_reservation: cancel,
  update_reservation_flights: changeFlights,
  update_reservation_baggages: changeBags,
  update_reservation_passengers: changePassengers,
  send_certificate: sendCertificate,
  calculate,
  transfer_to_human_agents: () => ({ transferred: true }),
};

/** Tools that read the same from another service. They are our addition. */
export const ALTERNATIVES: Readonly<Record<string, string>> = {
  get_user_details: 'find_customer',
  get_reservation_details: 'find_booking',
  search_direct_flight: 'search_timetable',
};

export const TOOL_NAMES: readonly string[] = [...Object.keys(TOOLS), ...Object.values(ALTERNATIVES)];

const originals = Object.fromEntries(Object.entries(ALTERNATIVES).map(([tool, other]) => [other, tool]));

/** Runs a tool. Throws {@link RequestError}. */
export const runTool = (store: Store, name: string, given: Arguments): unknown => {
  const tool = TOOLS[originals[name] ?? name];
  if (tool === undefined) throw new RequestError(`There is no tool ${name}`);
  return tool(store, given);
};
