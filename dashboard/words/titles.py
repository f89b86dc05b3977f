"""What stands above an exported figure of a theory page, by the chart's name there."""

TITLES = {
    "home": "r<sub>t</sub> and the untuned linear warmup",
    "home-race": "Who gets going?",
    "rectification": "The rectification r<sub>t</sub> beside five warmups",
    "rho": "ρ<sub>t</sub>: how many gradients the average holds",
    "learning-rate": "The learning rate in force",
    "several-beta2": "r<sub>t</sub> for several β<sub>2</sub>",
    "variance": "The variance of the adaptive rate",
    "rectified-variance": "The variance after rectification",
    "approximation-error": "How good are the approximations?",
    "real-gradients": "The adaptive rate of real gradients",
    "paper-approximation": "The paper’s approximation figure",
    "paper-simulation": "The paper’s simulation figure",
    "variance-or-size": "Variance, or the size of the update?",
    "implementations": "What each implementation makes of the first steps",
    "four-steps-gradients": "The gradients of the first eight steps",
    "four-steps-updates": "How far each step moved the weights",
    "four-steps-layers": "The gradient of each layer",
    "four-steps-planned": "What the settings make of the first steps",
    "tour-race": "The losses of the four lanes",
    "tour-in-force": "The final loss over the mean learning rate in force",
}
