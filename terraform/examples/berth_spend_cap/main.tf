# Micro-units: 250000000 are 250.00 EUR.
resource "berth_spend_cap" "all" {
  name     = "all"
  amount   = 250000000
  currency = "EUR"
  period   = "month"
}

resource "berth_spend_cap" "example" {
  name     = "ml"
  amount   = 20000000
  currency = "EUR"
  period   = "day"
  zone     = "Europe/Berlin"
  label    = { key = "team", value = "ml" }
}
